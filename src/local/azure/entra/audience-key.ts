/** Two names of a resource are the same in any case and with or without a slash at the end. */
export function audienceKey(name: string): string {
  return name.toLowerCase().replace(/\/+$/, '');
}
