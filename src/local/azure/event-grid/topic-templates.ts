// MQTT topics as Event Grid's topic spaces describe them: filters with wildcards and with variables of the client.

/** What variables of a template stand for. */
export interface TemplateClient {
  readonly authenticationName: string;
  readonly attributes: { readonly [name: string]: unknown };
}

const variableForm = /\$\{([^}]*)\}/g;
const knownVariable = /^client\.(authenticationName|attributes\.[A-Za-z0-9_]+)$/;
const maxTopicBytes = 256;
const maxSegments = 8;

/** What is wrong with a template, in words; undefined when it can be used. */
export function templateProblem(template: string): string | undefined {
  if (template === '' || Buffer.byteLength(template) > maxTopicBytes)
    return `a topic template has 1 to ${maxTopicBytes} characters`;
  if (template.includes('\0')) return 'a topic template has no null character';
  const segments = template.split('/');
  if (segments.length > maxSegments) return `a topic template has at most ${maxSegments} segments`;
  for (const [at, segment] of segments.entries()) {
    if (segment.includes('#') && (segment !== '#' || at !== segments.length - 1))
      return "'#' stands alone, in the last segment";
    if (segment.includes('+') && segment !== '+') return "'+' stands alone in its segment";
  }
  for (const [, variable = ''] of template.matchAll(variableForm)) {
    if (!knownVariable.test(variable)) return 'a variable is client.authenticationName or client.attributes.<name>';
  }
  return undefined;
}

/** The filter that a template is for one client; undefined when the client lacks an attribute, or has one that could mean more. */
export function filterFor(template: string, client: TemplateClient): string | undefined {
  let complete = true;
  const filter = template.replaceAll(variableForm, (_whole, variable: string) => {
    const name = variable.replace('client.attributes.', '');
    const value = variable === 'client.authenticationName' ? client.authenticationName : client.attributes[name];
    const text = typeof value === 'number' ? String(value) : value;
    // Wildcards or levels in a name would widen what the template allows.
    if (typeof text !== 'string' || text === '' || /[+#/]/.test(text)) complete = false;
    return String(text);
  });
  return complete ? filter : undefined;
}

/** Whether everything that an asked topic or filter can match is within a filter. */
export function covers(filter: string, asked: string): boolean {
  const [allowed, wanted] = [filter.split('/'), asked.split('/')];
  for (const [at, segment] of allowed.entries()) {
    if (segment === '#') return !(at === 0 && (wanted[0] ?? '').startsWith('$'));
    const other = wanted[at];
    if (other === undefined || other === '#') return false;
    if (segment === '+') {
      if (at === 0 && other.startsWith('$')) return false;
      continue;
    }
    if (segment !== other) return false;
  }
  // `a/#` is also about `a` itself.
  return wanted.length === allowed.length;
}
