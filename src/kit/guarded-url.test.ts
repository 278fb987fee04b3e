import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkHostPattern, checkUrl, GuardedRequestError, type GuardRule, isAllowedAddress } from './guarded-url.ts';

const hosts = ['.example.com', 'login.azure.test', 'xn--bcher-kva.test'];
const ports = [443, 8443];

for (const url of [
  'https://a.example.com',
  'https://a.b.example.com:8443/path?query#fragment',
  'HTTPS://A.Example.COM/',
  'https://login.azure.test/x',
  'https://xn--bcher-kva.test/',
  'https://a.example.com?x=https://evil.example/@',
]) {
  test(`${url} is allowed`, () => {
    assert.ok(checkUrl(url, hosts, ports) instanceof URL);
  });
}

const refused: readonly (readonly [string, GuardRule])[] = [
  ['', 'url'],
  ['/path', 'url'],
  ['a.example.com', 'url'],
  ['http://a.example.com/', 'scheme'],
  ['ftp://a.example.com/', 'scheme'],
  ['file:///etc/passwd', 'scheme'],
  ['data:text/plain,x', 'scheme'],
  ['https://example.com/', 'host'],
  ['https://evilexample.com/', 'host'],
  ['https://a.example.com.evil.test/', 'host'],
  ['https://a.login.azure.test/', 'host'],
  ['https://evil.test/a.example.com', 'host'],
  ['https://evil.test?.example.com', 'host'],
  ['https://evil.test#.example.com', 'host'],
  ['https://localhost/', 'host'],
  ['https://a.example.com:444/', 'port'],
  ['https://a.example.com:22/', 'port'],
  ['https://a.example.com./', 'url'],
  ['https://user@a.example.com/', 'url'],
  ['https://user:secret@a.example.com/', 'url'],
  ['https://a.example.com@evil.test/', 'url'],
  ['https://evil.test\\@a.example.com/', 'url'],
  ['https://a.example.com\\@evil.test/', 'url'],
  ['https:a.example.com', 'url'],
  ['https:/a.example.com', 'url'],
  ['https:\\\\a.example.com', 'url'],
  ['https:///a.example.com', 'url'],
  [' https://a.example.com', 'url'],
  ['https://a.exa\tmple.com', 'url'],
  ['https://a.example.com/\n', 'url'],
  ['https://%61.example.com/', 'url'],
  ['https://ａ.example.com/', 'url'],
  ['https://a.exаmple.com/', 'url'],
  ['https://bücher.test/', 'url'],
  ['https://a。example.com/', 'url'],
  ['https://127.0.0.1/', 'url'],
  ['https://127.1/', 'url'],
  ['https://2130706433/', 'url'],
  ['https://0x7f000001/', 'url'],
  ['https://0177.0.0.1/', 'url'],
  ['https://[::1]/', 'url'],
  ['https://[::ffff:127.0.0.1]/', 'url'],
];
for (const [url, rule] of refused) {
  test(`${JSON.stringify(url)} is refused by the rule on the ${rule}`, () => {
    assert.throws(
      () => checkUrl(url, hosts, ports),
      (error) => {
        assert.ok(error instanceof GuardedRequestError, String(error));
        assert.equal(error.rule, rule, error.message);
        return true;
      },
    );
  });
}

test('an error does not repeat what may be secret', () => {
  for (const url of [
    'https://evil.test/x?sig=SECRET',
    'https://u:SECRET@a.example.com/',
    'http://a.example.com/?SECRET',
  ]) {
    assert.throws(
      () => checkUrl(url, hosts, ports),
      (error) => error instanceof Error && !error.message.includes('SECRET'),
    );
  }
});

test('a pattern that cannot match, or would match too much, is refused', () => {
  for (const pattern of [
    '',
    '.',
    '*.example.com',
    'example.com.',
    'https://example.com',
    '10.0.0.1',
    'a..b',
    'a b',
    'a:443',
  ]) {
    assert.throws(() => checkHostPattern(pattern), TypeError, pattern);
  }
  assert.equal(checkHostPattern('.Example.COM'), '.example.com');
});

const addresses: readonly (readonly [string, 'public' | 'private' | 'never'])[] = [
  ['20.50.1.1', 'public'],
  ['2603:1030::1', 'public'],
  ['127.0.0.1', 'private'],
  ['127.255.0.1', 'private'],
  ['::1', 'private'],
  ['10.1.2.3', 'private'],
  ['172.16.0.1', 'private'],
  ['192.168.1.1', 'private'],
  ['fd12::1', 'private'],
  ['::ffff:10.0.0.1', 'private'],
  ['::ffff:169.254.169.254', 'never'],
  ['169.254.169.254', 'never'],
  ['168.63.129.16', 'never'],
  ['fd00:ec2::254', 'never'],
  ['fe80::1', 'never'],
  ['0.0.0.0', 'never'],
  ['::', 'never'],
  ['255.255.255.255', 'never'],
  ['224.0.0.1', 'never'],
  ['ff02::1', 'never'],
  ['100.64.0.1', 'never'],
  ['198.18.0.1', 'never'],
  ['240.0.0.1', 'never'],
  ['64:ff9b::7f00:1', 'never'],
  ['2002:7f00:1::', 'never'],
  ['2001::1', 'never'],
  ['::127.0.0.1', 'never'],
  ['::7f00:1', 'never'],
  ['not-an-address', 'never'],
];
for (const [address, kind] of addresses) {
  test(`${address} is ${kind === 'never' ? 'never allowed' : kind}`, () => {
    assert.equal(isAllowedAddress(address, false), kind === 'public');
    assert.equal(isAllowedAddress(address, true), kind !== 'never');
  });
}
