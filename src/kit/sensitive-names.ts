/**
 * Names whose values are never printed, wherever they stand: a key of an object at any depth, a header, the `name` of a
 * `{ name, value }` pair, a configuration path. Compared without regard to case, `-`, `_`, `.` and spaces.
 *
 * | what                | matches                                                                                |
 * | ------------------- | -------------------------------------------------------------------------------------- |
 * | ends with           | authorization, cookie, password, passwd, passphrase, secret(s), kubeconfig(s),         |
 * |                     | privateKey, apiKey, accessKey, accountKey, sharedKey, masterKey, signingKey,           |
 * |                     | encryptionKey, connectionString, credential(s), assertion, dockerConfigJson, keyPem    |
 * | contains            | token (see below for what is let through)                                              |
 * | is                  | setCookie2, stringData, rawHeaders, sasUrl, sasUri, sig, sshKey, otp, pwd              |
 * | let through         | token names that hold no token: fencingToken, tokenType, tokenUrl, tokenEndpoint, ...  |
 */
const ending =
  /(?:authorization|cookie|password|passwd|passphrase|secrets?|kubeconfigs?|privatekey|apikey|accesskey|accountkey|sharedkey|masterkey|signingkey|encryptionkey|connectionstring|credentials?|assertion|dockerconfigjson|keypem)$/;

const whole: ReadonlySet<string> = new Set([
  'setcookie2',
  'stringdata',
  'rawheaders',
  'sasurl',
  'sasuri',
  'sig',
  'sshkey',
  'otp',
  'pwd',
]);

const letThrough: ReadonlySet<string> = new Set([
  'fencingtoken',
  'tokentype',
  'tokenurl',
  'tokenuri',
  'tokenendpoint',
  'tokenexpiry',
  'tokenexpiresat',
  'tokensecondsleft',
  'automountserviceaccounttoken',
]);

/** Names repeat from event to event; remembering the verdict spares the pattern. Bounded, since names can be user text. */
const known = new Map<string, boolean>();
const knownLimit = 2000;
const longestName = 200;

/** Says whether a value under this name must not be printed. */
export function isSensitiveName(name: string): boolean {
  const verdict = known.get(name);
  if (verdict !== undefined) return verdict;
  const found = judge(name.length > longestName ? name.slice(-longestName) : name);
  if (known.size < knownLimit && name.length <= longestName) known.set(name, found);
  return found;
}

function judge(name: string): boolean {
  const plain = name.toLowerCase().replace(/[-_.\s]/g, '');
  if (letThrough.has(plain)) return false;
  return whole.has(plain) || plain.includes('token') || ending.test(plain);
}
