// Texts in other forms: base64, data URIs, URIs.
import { type FunctionTable, func } from '../environment.ts';
import { TemplateError } from '../template-error.ts';
import { madeText, wantText } from '../values.ts';
import { parsedJson } from './collections.ts';

export const encodingFunctions: FunctionTable = {
  base64: func(1, ([text], call) => madeText(Buffer.from(wantText(text, call)).toString('base64'), call.budget)),
  base64tostring: func(1, ([text], call) => madeText(fromBase64(wantText(text, call)), call.budget)),
  base64tojson: func(1, ([text], call) => {
    const source = fromBase64(wantText(text, call));
    call.budget.spend(source.length >>> 2);
    return parsedJson(source);
  }),
  datauri: func(1, ([text], call) =>
    madeText(
      `data:text/plain;charset=utf8;base64,${Buffer.from(wantText(text, call)).toString('base64')}`,
      call.budget,
    ),
  ),
  datauritostring: func(1, ([text], call) => {
    const uri = wantText(text, call);
    const comma = uri.indexOf(',');
    if (!/^data:/i.test(uri) || comma === -1) {
      throw new TemplateError(
        "The template language function 'dataUriToString' expects its parameter to be formatted as a valid data URI",
      );
    }
    const head = uri.slice(0, comma);
    const body = uri.slice(comma + 1);
    return madeText(/;base64$/i.test(head) ? fromBase64(body) : decoded(body), call.budget);
  }),
  uri: func(2, ([base, relative], call) => {
    const from = wantText(base, call);
    const made = URL.canParse(wantText(relative, call), from)
      ? new URL(wantText(relative, call), from).href
      : undefined;
    if (made === undefined) {
      throw new TemplateError(
        "The template language function 'uri' expects its first parameter to be a uri string and its second to be relative to it",
      );
    }
    return madeText(made, call.budget);
  }),
  uricomponent: func(1, ([text], call) => madeText(encoded(wantText(text, call)), call.budget)),
  uricomponenttostring: func(1, ([text], call) => madeText(decoded(wantText(text, call)), call.budget)),
};

function fromBase64(text: string): string {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) {
    throw new TemplateError('The provided value is not a valid base64 text');
  }
  return Buffer.from(text, 'base64').toString('utf8');
}

/** All but letters, digits and `-_.~` as percent escapes. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TemplateError('The provided value is not a valid URI encoded text');
  }
}
