let second = -1;
let text = '';

/** A time as Kubernetes writes it: RFC 3339 in whole seconds. */
export function timestamp(epochMs: number): string {
  const now = Math.floor(epochMs / 1000);
  if (now !== second) {
    second = now;
    text = `${new Date(now * 1000).toISOString().slice(0, 19)}Z`;
  }
  return text;
}
