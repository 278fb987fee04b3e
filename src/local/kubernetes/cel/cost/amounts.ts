// Sizes and costs as estimates reckon with them. What nobody bounds is infinite.

/** How many characters, bytes, items or entries a value may have. */
export interface Size {
  readonly least: number;
  readonly most: number;
}

export const unknownSize: Size = { least: 0, most: Number.POSITIVE_INFINITY };
export const fixedSize = (size: number): Size => ({ least: size, most: size });

/** A product of which nothing, however often, is nothing. */
export const times = (one: number, other: number): number => (one === 0 || other === 0 ? 0 : one * other);

export const sumOf = (one: Size, other: Size): Size => ({
  least: one.least + other.least,
  most: one.most + other.most,
});

export const productOf = (one: Size, other: Size): Size => ({
  least: times(one.least, other.least),
  most: times(one.most, other.most),
});

/** The sizes that either may have. */
export const eitherOf = (one: Size, other: Size): Size => ({
  least: Math.min(one.least, other.least),
  most: Math.max(one.most, other.most),
});

/** What reading one character costs. */
export const perCharacter = 0.1;
/** What one character of a regular expression adds to each step of matching it. */
export const perPatternCharacter = 0.25;

/** The cost of as many steps as a size has at most. */
export const costOf = (size: Size, each: number): number => Math.ceil(times(size.most, each));

/** What making a list or map costs before anything is put in. */
export const listBase = 10;
export const mapBase = 30;
