// Topics and filters of MQTT: which topic a filter matches, and which filter lies within another.

const maxLevels = 100;

/** Whether every topic that `asked` matches is matched by `granted`. A topic is a filter that matches itself alone. */
export function covers(granted: string, asked: string): boolean {
  // Wildcards at the first level do not reach topics of the broker's own, such as `$SYS`.
  if (asked.startsWith('$') && !granted.startsWith('$')) return false;
  const [wide, narrow] = [granted.split('/'), asked.split('/')];
  for (const [at, level] of wide.entries()) {
    if (level === '#') return true;
    const other = narrow[at];
    if (other === undefined || other === '#') return false;
    if (level !== '+' && level !== other) return false;
  }
  return wide.length === narrow.length;
}

/** Whether MQTT allows it as a filter: wildcards stand alone on their level, and `#` on the last. */
export function isFilter(text: string): boolean {
  const levels = text.split('/');
  if (text === '' || levels.length > maxLevels || text.includes('\0')) return false;
  return levels.every((level, at) => {
    if (level === '#') return at === levels.length - 1;
    return level === '+' || !/[+#]/.test(level);
  });
}

/** Whether it can stand as one level of a topic. */
export function isLevel(text: string): boolean {
  return text !== '' && !/[/+#\0]/.test(text);
}
