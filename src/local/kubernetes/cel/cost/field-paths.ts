// Where in the declared type a value comes from: `self`, then fields, `@items`, `@values` and `@keys`. The real server keeps these
// in slices that share their memory, so a longer path made of one place may overwrite the end of another. Its estimates show
// that, and ours are to be the same.

export interface FieldPath {
  /** Shared by all paths that grew within it. */
  readonly slots: string[];
  readonly length: number;
  readonly capacity: number;
}

export const pathOf = (name: string): FieldPath => ({ slots: [name], length: 1, capacity: 1 });

/** A path with one more name. What has no path begins one. */
export function extend(path: FieldPath | undefined, name: string): FieldPath {
  if (!path) return pathOf(name);
  const { length, capacity } = path;
  if (length < capacity) {
    path.slots[length] = name;
    return { slots: path.slots, length: length + 1, capacity };
  }
  return { slots: [...path.slots.slice(0, length), name], length: length + 1, capacity: capacity * 2 };
}

/** The names below the variable that a path begins with. */
export const namesOf = ({ slots, length }: FieldPath): readonly string[] => slots.slice(1, length);
