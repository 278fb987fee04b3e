// Times as Kubernetes writes them.

/** metav1.Time: whole seconds. */
export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** metav1.MicroTime: microseconds, always all six digits. */
export function microTimeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`;
}
