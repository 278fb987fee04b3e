// What tags may be.
import { ArmError } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import { foldCase } from '../../../arm/resource-id.ts';

export type Tags = { readonly [name: string]: string };

export const maxTags = 50;
export const maxTagNameLength = 512;
export const maxTagValueLength = 256;

/** The characters that names of tags do not have, control characters among them. */
const reserved = /[<>%&\\?/\p{Cc}]/u;

/** Azure's own tags, which hold ids. */
const ownPrefix = /^(?:hidden-|link:)/i;

/** The tags as given, null members left out; undefined when there are none. Throws what ARM says of others. */
export function checkTags(given: unknown): Tags | undefined {
  if (given === undefined || given === null) return undefined;
  if (!isRecord(given))
    throw new ArmError(
      400,
      'InvalidRequestContent',
      'The request content was invalid and could not be deserialized: the tags must be an object of texts.',
      { target: 'tags' },
    );
  const names = Object.keys(given);
  if (names.length > maxTags)
    throw invalid(
      'InvalidTags',
      `The resource has '${names.length}' tags, which is more than the maximum of '${maxTags}'.`,
    );
  const seen = new Set<string>();
  const tags: { [name: string]: string } = {};
  for (const name of names) {
    const value = given[name];
    const shown = name.slice(0, 128);
    if (name.trim() === '')
      throw invalid('InvalidTagName', 'The tag name must be non-null, non-empty and non-whitespace only.');
    if (name.length > maxTagNameLength)
      throw invalid(
        'InvalidTagName',
        `The tag name '${shown}…' is longer than the maximum of '${maxTagNameLength}' characters.`,
      );
    if (reserved.test(name) && !ownPrefix.test(name))
      throw invalid(
        'InvalidTagNameCharacters',
        `The tag names '${shown}' have reserved characters '<,>,%,&,\\,?,/' or control characters.`,
      );
    const folded = foldCase(name);
    if (seen.has(folded))
      throw invalid('InvalidTagName', `The tag name '${shown}' is given twice: names of tags compare without case.`);
    seen.add(folded);
    if (value === null) continue;
    if (typeof value !== 'string')
      throw new ArmError(
        400,
        'InvalidRequestContent',
        `The request content was invalid and could not be deserialized: the value of tag '${shown}' must be a text.`,
        { target: `tags.${shown}` },
      );
    if (value.length > maxTagValueLength)
      throw invalid(
        'InvalidTagValueLength',
        `The value of tag '${shown}' is longer than the maximum of '${maxTagValueLength}' characters.`,
      );
    tags[name] = value;
  }
  return tags;
}

function invalid(code: string, message: string): ArmError {
  return new ArmError(400, code, message, { target: 'tags' });
}
