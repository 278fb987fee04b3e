// A person's name and password, checked once for all the ways in.
import { Secret } from '../../../kit/secret.ts';
import { aadsts } from './aadsts.ts';
import type { Entra } from './context.ts';
import type { Tenant, User } from './directory-objects.ts';
import { isPassword } from './passwords.ts';

const nameMaxLength = 256;
const passwordMaxLength = 256;

/**
 * Throws 50126 for an unknown name as for a wrong password, so that nobody learns which names there are; 50053 after too many wrong
 * ones, 50057 for a disabled account.
 */
export async function signIn(entra: Entra, tenant: Tenant, name: string, password: string): Promise<User> {
  if (name.length > nameMaxLength || password.length > passwordMaxLength) throw aadsts.password();
  const attempt = `${tenant.id} ${name.toLowerCase()}`;
  if (entra.signIns.isLocked(attempt)) throw aadsts.locked();
  const user = entra.objects.user(tenant.id, name);
  const check = entra.passwordChecks.run(() => isPassword(user?.passwordHash, new Secret(password)));
  if (!check) throw aadsts.busy();
  const right = await check;
  if (!user || !right) {
    entra.signIns.wrong(attempt);
    throw aadsts.password();
  }
  if (!user.accountEnabled) throw aadsts.userDisabled();
  entra.signIns.right(attempt);
  return user;
}
