// Texts.
import type { Json } from '../../../kernel/record.ts';
import { type Call, type FunctionTable, func } from '../environment.ts';
import { TemplateError } from '../template-error.ts';
import { isArray, madeText, textMaxLength, textOf, typeName, wantArray, wantInteger, wantText } from '../values.ts';

export const stringFunctions: FunctionTable = {
  concat: func([1, 1024], (args, call) => {
    if (args.every(isArray)) {
      const all = (args as readonly (readonly Json[])[]).flat(1);
      call.budget.spend(all.length);
      return all;
    }
    if (args.some((arg) => isArray(arg) || typeof arg === 'object')) {
      throw new TemplateError(
        "The template language function 'concat' expects its parameters to be all arrays or all values that can be text",
      );
    }
    return joined(
      args.map((arg) => textOf(arg, call.budget)),
      '',
      call,
    );
  }),
  format: func([1, 256], ([pattern, ...values], call) => format(wantText(pattern, call), values, call)),
  string: func(1, ([value], call) => madeText(textOf(value ?? null, call.budget), call.budget)),
  tolower: func(1, ([text], call) => madeText(wantText(text, call).toLowerCase(), call.budget)),
  toupper: func(1, ([text], call) => madeText(wantText(text, call).toUpperCase(), call.budget)),
  trim: func(1, ([text], call) => madeText(wantText(text, call).trim(), call.budget)),
  startswith: func(2, ([text, start], call) =>
    wantText(text, call).toLowerCase().startsWith(wantText(start, call).toLowerCase()),
  ),
  endswith: func(2, ([text, end], call) =>
    wantText(text, call).toLowerCase().endsWith(wantText(end, call).toLowerCase()),
  ),
  padleft: func([2, 3], ([value, length, fill], call) => {
    const width = wantInteger(length, call);
    if (width < 0 || width > textMaxLength) throw outOfRange(call);
    const pad = fill === undefined ? ' ' : wantText(fill, call);
    if (pad.length !== 1)
      throw new TemplateError(
        "The template language function 'padLeft' expects its third parameter to be a single character",
      );
    return madeText(textOf(value ?? null, call.budget).padStart(width, pad), call.budget);
  }),
  replace: func(3, ([text, old, made], call) => {
    const from = wantText(old, call);
    if (from === '')
      throw new TemplateError("The template language function 'replace' expects its second parameter not to be empty");
    return joined(wantText(text, call).split(from), wantText(made, call), call);
  }),
  split: func(2, ([text, by], call) => split(wantText(text, call), by ?? null, call)),
  join: func(2, ([values, by], call) => {
    const texts = wantArray(values, call).map((value) => textOf(value, call.budget));
    return joined(texts, wantText(by, call), call);
  }),
  substring: func([2, 3], ([text, start, length], call) => {
    const whole = wantText(text, call);
    const from = wantInteger(start, call);
    const count = length === undefined ? whole.length - from : wantInteger(length, call);
    if (from < 0 || count < 0 || from + count > whole.length) {
      throw new TemplateError(
        `Unable to evaluate template language function 'substring'. The index and length parameters must refer to a location within the string. The index parameter: '${from}', the length parameter: '${count}', the length of the string parameter: '${whole.length}'. Please see https://aka.ms/arm-functions#substring for usage details`,
      );
    }
    return madeText(whole.slice(from, from + count), call.budget);
  }),
};

function outOfRange(call: Call): TemplateError {
  return new TemplateError(`A parameter of the template language function '${call.name}' is out of range`);
}

function joined(texts: readonly string[], by: string, call: Call): string {
  let length = by.length * Math.max(0, texts.length - 1);
  for (const text of texts) length += text.length;
  call.budget.spend(texts.length + (length >>> 3));
  if (length > textMaxLength)
    throw new TemplateError(`The string is longer than the limit of '${textMaxLength}' characters`);
  return texts.join(by);
}

function split(text: string, by: Json, call: Call): readonly string[] {
  const delimiters = isArray(by) ? by.map((one) => wantText(one, call)) : [wantText(by, call)];
  let parts = [text];
  for (const delimiter of delimiters) {
    if (delimiter === '') continue;
    parts = parts.flatMap((part) => part.split(delimiter));
    call.budget.spend(parts.length + (text.length >>> 3));
  }
  return parts;
}

/** Composite format of .NET: `{0}`, `{1,-5}`, `{0:D3}`, doubled braces. */
function format(pattern: string, values: readonly Json[], call: Call): string {
  const parts: string[] = [];
  let at = 0;
  while (at < pattern.length) {
    const char = pattern[at] ?? '';
    if ((char === '{' || char === '}') && pattern[at + 1] === char) {
      parts.push(char);
      at += 2;
    } else if (char === '{') {
      const end = pattern.indexOf('}', at);
      if (end === -1) throw badFormat();
      parts.push(formatted(pattern.slice(at + 1, end), values, call));
      at = end + 1;
    } else if (char === '}') {
      throw badFormat();
    } else {
      let end = at;
      while (end < pattern.length && pattern[end] !== '{' && pattern[end] !== '}') end++;
      parts.push(pattern.slice(at, end));
      at = end;
    }
  }
  return joined(parts, '', call);
}

function formatted(item: string, values: readonly Json[], call: Call): string {
  const found = /^\s*([0-9]{1,3})\s*(?:,\s*(-?[0-9]{1,4})\s*)?(?::(.{0,64}))?$/.exec(item);
  const value = values[Number(found?.[1] ?? -1)];
  if (found === null || value === undefined) throw badFormat();
  const text = withSpecifier(value, found[3], call);
  const width = Number(found[2] ?? 0);
  return width < 0 ? text.padEnd(-width) : text.padStart(width);
}

const specifiers: { readonly [letter: string]: (value: number, digits: string) => string } = {
  d: (value, digits) => (value < 0 ? '-' : '') + String(Math.abs(value)).padStart(Number(digits || 0), '0'),
  x: (value, digits) => hexadecimal(value).padStart(Number(digits || 0), '0'),
  f: (value, digits) => value.toFixed(Number(digits || 2)),
  n: (value, digits) =>
    value.toLocaleString('en-US', {
      minimumFractionDigits: Number(digits || 2),
      maximumFractionDigits: Number(digits || 2),
    }),
};

function hexadecimal(value: number): string {
  return BigInt.asUintN(value < 0 ? 32 : 64, BigInt(Math.trunc(value))).toString(16);
}

function withSpecifier(value: Json, specifier: string | undefined, call: Call): string {
  if (specifier === undefined || typeof value !== 'number') return textOf(value, call.budget);
  const found = /^([a-z])([0-9]?[0-9]?)$/i.exec(specifier);
  if (found !== null) {
    const letter = found[1] ?? '';
    const text = specifiers[letter.toLowerCase()]?.(value, found[2] ?? '');
    if (text !== undefined) return letter === 'X' ? text.toUpperCase() : text;
  }
  if (/^0+$/.test(specifier)) return specifiers.d?.(value, String(specifier.length)) ?? '';
  throw badFormat();
}

function badFormat(): TemplateError {
  return new TemplateError(
    "Unable to evaluate template language function 'format'. The format is invalid: 'Index (zero based) must be greater than or equal to zero and less than the size of the argument list.'. Please see https://aka.ms/arm-functions for usage details",
  );
}

/** For other functions that name the type of what they got. */
export function unexpectedType(call: Call, value: Json | undefined): TemplateError {
  return new TemplateError(
    `The template language function '${call.name}' does not take a parameter of type '${typeName(value ?? null)}'. Please see https://aka.ms/arm-functions for usage details`,
  );
}
