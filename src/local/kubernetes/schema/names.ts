// What names, labels, keys and ports may look like. Each rule gives the server's messages, none when the value is good.

const maxLength = (length: number): string => `must be no more than ${length} characters`;

const byRegex = (message: string, form: string, ...examples: string[]): string =>
  examples.length === 0
    ? `${message} (regex used for validation is '${form}')`
    : `${message} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}regex used for validation is '${form}')`;

const whole = (form: string): RegExp => new RegExp(`^(?:${form})$`);
/** Lengths are limits on bytes. */
const longerThan = (value: string, length: number): boolean =>
  value.length > length || (value.length * 3 > length && Buffer.byteLength(value) > length);

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = `${label}(\\.${label})*`;
const dns1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelForm = `(${qualified})?`;
const wildcard = `\\*\\.${subdomain}`;
const percent = '[0-9]+%';
const header = '[-A-Za-z0-9]+';
const configKey = '[-._a-zA-Z0-9]+';

const labelRegex = whole(label);
const subdomainRegex = whole(subdomain);
const dns1035Regex = whole(dns1035);
const qualifiedRegex = whole(qualified);
const labelValueRegex = whole(labelForm);
const wildcardRegex = whole(wildcard);
const percentRegex = whole(percent);
const headerRegex = whole(header);
const configKeyRegex = whole(configKey);

const qualifiedMessage =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const qualifiedText = byRegex(qualifiedMessage, qualified, 'MyName', 'my.name', '123-abc');

const limited = (value: string, length: number): string[] => (longerThan(value, length) ? [maxLength(length)] : []);

export function dns1123Label(value: string): string[] {
  const found = limited(value, 63);
  if (!labelRegex.test(value)) {
    found.push(
      subdomainRegex.test(value)
        ? 'must not contain dots'
        : byRegex(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            label,
            'my-name',
            '123-abc',
          ),
    );
  }
  return found;
}

export function dns1123Subdomain(value: string): string[] {
  const found = limited(value, 253);
  if (!subdomainRegex.test(value)) {
    found.push(
      byRegex(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        subdomain,
        'example.com',
      ),
    );
  }
  return found;
}

export function dns1035Label(value: string): string[] {
  const found = limited(value, 63);
  if (!dns1035Regex.test(value)) {
    found.push(
      byRegex(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        dns1035,
        'my-name',
        'abc-123',
      ),
    );
  }
  return found;
}

export function wildcardSubdomain(value: string): string[] {
  const found = limited(value, 253);
  if (!wildcardRegex.test(value)) {
    found.push(
      byRegex(
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
        wildcard,
        '*.example.com',
      ),
    );
  }
  return found;
}

/** A label's key: a name with an optional DNS subdomain before a slash. */
export function qualifiedName(value: string): string[] {
  const slash = value.indexOf('/');
  if (slash !== -1 && value.includes('/', slash + 1)) {
    return [
      `a qualified name ${qualifiedText} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const found: string[] = [];
  if (slash === 0) found.push('prefix part must be non-empty');
  else if (slash > 0) {
    found.push(...dns1123Subdomain(value.slice(0, slash)).map((message) => `prefix part ${message}`));
  }
  const name = value.slice(slash + 1);
  if (name.length === 0) found.push('name part must be non-empty');
  else if (longerThan(name, 63)) found.push(`name part ${maxLength(63)}`);
  if (!qualifiedRegex.test(name)) found.push(`name part ${qualifiedText}`);
  return found;
}

export function labelValue(value: string): string[] {
  const found = limited(value, 63);
  if (!labelValueRegex.test(value)) {
    found.push(
      byRegex(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        labelForm,
        'MyValue',
        'my_value',
        '12345',
      ),
    );
  }
  return found;
}

export const inRange = (value: number, least: number, most: number): string[] =>
  value >= least && value <= most ? [] : [`must be between ${least} and ${most}, inclusive`];

export const portNumber = (port: number): string[] => inRange(port, 1, 65535);

export const userId = (id: number): string[] => inRange(id, 0, 2147483647);

export function portName(port: string): string[] {
  const found = limited(port, 15);
  if (!/^[-a-z0-9]+$/.test(port)) {
    found.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(port)) found.push('must contain at least one letter (a-z)');
  if (port.includes('--')) found.push('must not contain consecutive hyphens');
  if (port.startsWith('-') || port.endsWith('-')) found.push('must not begin or end with a hyphen');
  return found;
}

export const percentage = (value: string): string[] =>
  percentRegex.test(value)
    ? []
    : [byRegex("a valid percent string must be a numeric string followed by an ending '%'", percent, '1%', '93%')];

export const httpHeaderName = (value: string): string[] =>
  headerRegex.test(value)
    ? []
    : [byRegex("a valid HTTP header must consist of alphanumeric characters or '-'", header, 'X-Header-Name')];

/** Names of environment variables: printable ASCII but `=`. */
export function environmentName(value: string): string[] {
  if (value === '') return ['environment variable name must be non-empty'];
  return /^[\x20-\x3c\x3e-\x7e]+$/.test(value)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

function aboveFolder(value: string): string[] {
  if (value === '.') return ["must not be '.'"];
  if (value === '..') return ["must not be '..'"];
  return value.startsWith('..') ? ["must not start with '..'"] : [];
}

/** Keys of config maps and secrets. */
export function configMapKey(value: string): string[] {
  const found = limited(value, 253);
  if (!configKeyRegex.test(value)) {
    found.push(
      byRegex(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
        configKey,
        'key.name',
        'KEY_NAME',
        'key-name',
      ),
    );
  }
  return [...found, ...aboveFolder(value)];
}

/** Names that may stand in a path, and nothing more is asked of them (roles and the like). */
export function pathSegment(value: string): string[] {
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  const found: string[] = [];
  if (value.includes('/')) found.push("may not contain '/'");
  if (value.includes('%')) found.push("may not contain '%'");
  return found;
}

/** A rule for names, and for generateName: there the end may yet come, so a trailing hyphen counts as a letter. */
export type NameRule = (name: string, prefix: boolean) => string[];

const maskTrailingDash = (name: string): string =>
  name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;

const named =
  (rule: (value: string) => string[]): NameRule =>
  (name, prefix) =>
    rule(prefix ? maskTrailingDash(name) : name);

export const subdomainName: NameRule = named(dns1123Subdomain);
export const labelName: NameRule = named(dns1123Label);
export const dns1035Name: NameRule = named(dns1035Label);
export const pathSegmentName: NameRule = (name, prefix) =>
  prefix ? pathSegment(name).filter((message) => !message.startsWith('may not be')) : pathSegment(name);
