// Holds what az printed against what a step says it prints.
import assert from 'node:assert/strict';

/** Whether everything of `part` is in `whole`: members of objects, and the elements of lists in any order. */
export function assertContains(whole: unknown, part: unknown, where = 'output'): void {
  if (typeof part !== 'object' || part === null) {
    assert.equal(whole, part, where);
    return;
  }
  assert.ok(
    typeof whole === 'object' && whole !== null,
    `${where} should be ${JSON.stringify(part)} and is ${String(whole)}`,
  );
  if (Array.isArray(part)) {
    assert.ok(Array.isArray(whole), `${where} is no list`);
    if (part.length === 0) assert.deepEqual(whole, [], where);
    for (const [at, one] of part.entries()) {
      const fits = whole.some((other) => contains(other, one));
      assert.ok(fits, `${where}[${at}]: none of ${JSON.stringify(whole)} has ${JSON.stringify(one)}`);
    }
    return;
  }
  for (const [name, value] of Object.entries(part))
    assertContains((whole as Record<string, unknown>)[name], value, `${where}.${name}`);
}

function contains(whole: unknown, part: unknown): boolean {
  try {
    assertContains(whole, part);
    return true;
  } catch {
    return false;
  }
}
