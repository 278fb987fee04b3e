// `$filter` of the lists of Microsoft.Authorization: a few forms, joined by `and`.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase } from '../../../arm/resource-id.ts';

export interface ListFilter {
  /** Only at the scope and above it. */
  readonly atScope: boolean;
  /** By lower-case name: `principalid`, `assignedto`, `rolename`, `type` … */
  readonly values: ReadonlyMap<string, string>;
}

const filterMaxLength = 2048;
const atScopeForm = /^atscope(?:andbelow)?\(\)$/i;
const callForm = /^(\w{1,40})\(\s*'((?:[^']|'')*)'\s*\)$/;
const equalForm = /^([\w.]{1,64}) eq '((?:[^']|'')*)'$/i;

/** `names` are the members and functions that the list knows. Throws for anything else. */
export function parseListFilter(given: string | undefined, names: readonly string[]): ListFilter {
  const values = new Map<string, string>();
  let atScope = false;
  if (given === undefined || given.trim() === '') return { atScope, values };
  if (given.length > filterMaxLength) throw unsupported(given, names);
  for (const part of splitAnd(given.trim())) {
    if (atScopeForm.test(part)) {
      atScope ||= foldCase(part) === 'atscope()';
      continue;
    }
    const [, name = '', value = ''] = callForm.exec(part) ?? equalForm.exec(part) ?? [];
    const known = names.find((one) => foldCase(one) === foldCase(name));
    if (known === undefined) throw unsupported(given, names);
    values.set(foldCase(known), value.replaceAll("''", "'"));
  }
  return { atScope, values };
}

/** Parts that stand outside of quotes between `and`s. */
function splitAnd(text: string): readonly string[] {
  const parts: string[] = [];
  let part = '';
  for (const [at, piece] of text.split("'").entries()) {
    if (at % 2 === 1) {
      part += `'${piece}'`;
      continue;
    }
    const [first = '', ...more] = piece.split(/ and /i);
    part += first;
    for (const next of more) {
      parts.push(part.trim());
      part = next;
    }
  }
  parts.push(part.trim());
  return parts.map((one) => one.replaceAll("''", "''"));
}

function unsupported(given: string, names: readonly string[]): ArmError {
  return new ArmError(
    400,
    'UnsupportedQuery',
    `The filter '${given.slice(0, 200)}' is not supported. Supported filters are 'atScope()' and: ${names.join(', ')}.`,
  );
}
