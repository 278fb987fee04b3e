// Patterns of actions, as roles have them: `*` stands for any text, slashes included; case does not count.
import { foldCase } from '../../../arm/resource-id.ts';
import type { Permission } from '../kernel/access.ts';

/** Told of a folded action. */
export type ActionTest = (action: string) => boolean;

/**
 * Takes time in the length of the action, whatever the pattern. A star between slashes may stand for nothing at all: what is for
 * everything below `a` that ends with `read` is for `a/read` too, as roles of Azure have it.
 */
export function actionTest(pattern: string): ActionTest {
  const exact = textTest(pattern);
  const without = pattern.replaceAll('/*/', '/');
  if (without === pattern) return exact;
  const shorter = textTest(without);
  return (action) => exact(action) || shorter(action);
}

function textTest(pattern: string): ActionTest {
  const [first = '', ...rest] = foldCase(pattern).split('*');
  const last = rest.pop();
  if (last === undefined) return (action) => action === first;
  const middle = rest.filter((part) => part !== '');
  if (first === '' && last === '' && middle.length === 0) return () => true;
  return (action) => {
    if (action.length < first.length + last.length || !action.startsWith(first) || !action.endsWith(last)) return false;
    let at = first.length;
    const end = action.length - last.length;
    for (const part of middle) {
      const found = action.indexOf(part, at);
      if (found === -1 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}

/** A permission that can be asked. */
export interface CompiledPermission {
  /** Whether it covers a folded action: some of its actions fit and none of its exceptions. */
  covers(action: string, data: boolean): boolean;
}

export function compilePermission(permission: Permission): CompiledPermission {
  const [actions, notActions, dataActions, notDataActions] = [
    permission.actions,
    permission.notActions,
    permission.dataActions,
    permission.notDataActions,
  ].map((patterns) => patterns.map(actionTest));
  const fits = (tests: readonly ActionTest[] | undefined, action: string): boolean =>
    tests?.some((test) => test(action)) === true;
  return {
    covers: (action, data) =>
      data
        ? fits(dataActions, action) && !fits(notDataActions, action)
        : fits(actions, action) && !fits(notActions, action),
  };
}
