/**
 * Names whose values are never printed, wherever they stand: a key of an object at any depth, a header, the name in a pair of
 * name and value, a configuration path. Compared without regard to case and to whatever is neither letter nor digit.
 *
 * | what        | matches                                                                                              |
 * | ----------- | ---------------------------------------------------------------------------------------------------- |
 * | contains    | secret, password, passwd, passphrase, token, kubeconfig, keyData, notificationUri/Url                |
 * | ends with   | authorization(Header), cookie(s), credential(s), assertion, connectionString, dockerConfigJson,      |
 * |             | keyPem, and keys that are not public: privateKey, apiKey, accessKey, tlsKey, clientKey, ...          |
 * | is          | pass, pwd, otp, sig, sshKey, sasUrl, sasUri, stringData, rawHeaders, setCookie2                      |
 * | let through | what only tells about one: secretName, secretRef, secretKeyRef, passwordExpiry, tokenType, ...       |
 */
const anywhere = /secret|passw(?:or)?d|passphrase|token|kubeconfig|keydata|notificationur[il]/;

const ending =
  /(?:authorization(?:header)?|cookies?|credentials?|assertion|connectionstring|dockerconfigjson|keypem|(?:private|api|access|account|shared|master|signing|encryption|tls|ca|client|server)key|(?:db|user|admin|proxy)pass)$/;

const whole: ReadonlySet<string> = new Set([
  'pass',
  'pwd',
  'otp',
  'sig',
  'sshkey',
  'sasurl',
  'sasuri',
  'stringdata',
  'rawheaders',
  'setcookie2',
]);

/** What may follow the last such word in the name of something that is no secret itself. */
const about =
  /^.*(?:secret|password|token|kubeconfig)s?(?:names?|namespaces?|(?:key)?ref(?:erence)?s?|keyname|(?:key)?selector|resourceids?|versions?|types?|kinds?|counts?|paths?|files?|less|set|expiry|expir(?:es|ed)(?:at|on)?|expiration(?:date)?|rotatedat|secondsleft|lifetime|ttl|policy|provider(?:class)?|store|audiences?|issuer|authentication|endpoint|context)$/;

const letThrough: ReadonlySet<string> = new Set([
  'fencingtoken',
  'tokenurl',
  'tokenuri',
  'secreturi',
  'automountserviceaccounttoken',
  'imagepullsecrets',
]);

/** Names repeat from event to event, so verdicts are kept; the bound is for names that callers make up. */
const known = new Map<string, boolean>();
const knownLimit = 4096;
const longestName = 256;

/** Says whether a value under this name must not be printed. */
export function isSensitiveName(name: string): boolean {
  const verdict = known.get(name);
  if (verdict !== undefined) return verdict;
  const found = namesSecret(name);
  if (known.size < knownLimit && name.length <= longestName) known.set(name, found);
  return found;
}

/** The same for text that may be a name or any other value, and so is not worth remembering. */
export function namesSecret(text: string): boolean {
  const name = text.length > longestName ? text.slice(-longestName) : text;
  const plain = name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
  if (letThrough.has(plain)) return false;
  return whole.has(plain) || ending.test(plain) || (anywhere.test(plain) && !about.test(plain));
}
