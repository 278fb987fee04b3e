import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { denyPattern, isDenied, plainSegments } from './plain-path.ts';

for (const path of [
  '/admin',
  '/ADMIN',
  '/%61dmin',
  '/%2561dmin',
  '//admin',
  '/admin;x=1',
  '/admin?x',
  '/admin#x',
  '/%EF%BD%81dmin',
  '/admin/',
  '/%2fadmin',
  '/%2Fadmin%2Fx',
]) {
  test(`${path} is read as /admin`, () => {
    assert.equal(plainSegments(path)?.[0], 'admin');
  });
}

for (const target of [
  '/x/../admin',
  '/./admin',
  '/x/%2e%2e/admin',
  '/x/%252e%252e/admin',
  '/x/..%2fadmin',
  '/x/..;/admin',
  '\\admin',
  '/x\\..\\admin',
  '/%5cadmin',
  '/admin%00',
  '/admin%0a',
  '/%',
  '/%zz',
  '/%c0%ae',
  '/%25252525252561',
  'http://localhost/admin',
  '*',
  '',
  'admin',
  '/x/.../admin',
]) {
  test(`${JSON.stringify(target)} is not a path at all`, () => {
    assert.equal(plainSegments(target), undefined);
  });
}

test('a path keeps what honest clients send', () => {
  const path =
    '/subscriptions/0-1/resourceGroups/My%20Group/providers/Microsoft.RedHatOpenShift/hcpOpenShiftClusters/c_1~x';
  assert.deepEqual(plainSegments(`${path}?api-version=2024-06-10-preview&x=../..`), [
    'subscriptions',
    '0-1',
    'resourcegroups',
    'my group',
    'providers',
    'microsoft.redhatopenshift',
    'hcpopenshiftclusters',
    'c_1~x',
  ]);
});

const table: readonly (readonly [string, string, boolean])[] = [
  ['/admin', '/admin/v1', true],
  ['/admin', '/administrator', false],
  ['/admin', '/x/admin', false],
  ['/clusters/*/credentials', '/clusters/a/credentials', true],
  ['/clusters/*/credentials', '/clusters/a/credentials/x', true],
  ['/clusters/*/credentials', '/clusters/credentials', false],
  ['/clusters/*/credentials', '/clusters/a/b/credentials', false],
  ['/**/listCredentials', '/a/b/c/listcredentials', true],
  ['/**/listCredentials', '/listCredentials', true],
  ['/**/listCredentials', '/a/b/c', false],
  ['/a/**/b/*/c', '/a/x/b/b/c/c', true],
  ['/a/**/b/*/c', '/a/b/c', false],
];
for (const [pattern, path, denied] of table) {
  test(`${pattern} ${denied ? 'denies' : 'does not deny'} ${path}`, () => {
    assert.equal(isDenied(plainSegments(path) ?? [], [denyPattern(pattern)]), denied);
  });
}

test('a pattern that would deny nothing or everything is refused', () => {
  for (const pattern of ['', '/', 'admin', '/**', '/*', '/../x']) assert.throws(() => denyPattern(pattern), TypeError);
});

test('however letters are encoded and slashes doubled, a denied path stays denied', () => {
  const encoded = fc.tuple(
    ...[...'admin'].map((letter) => {
      const hex = `%${letter.charCodeAt(0).toString(16)}`;
      return fc.constantFrom(letter, letter.toUpperCase(), hex, hex.replace('%', '%25'), hex.replace('%', '%2525'));
    }),
  );
  const slash = fc.constantFrom('/', '//', '/%2f', '/;x/');
  const rest = fc.constantFrom('', '/', '/x', '?x', ';x', '%2fx', '%3fx', '%253fx');
  fc.assert(
    fc.property(slash, encoded, rest, (lead, letters, tail) => {
      const segments = plainSegments(lead + letters.join('') + tail);
      assert.ok(segments === undefined || isDenied(segments, [denyPattern('/admin')]));
    }),
  );
});
