// A person's name and password, checked once for all the ways in.
import { Secret } from '../../../kit/secret.ts';
import { aadsts } from './aadsts.ts';
import type { Entra } from './context.ts';
import type { Tenant, User } from './directory-objects.ts';
import { isPassword } from './passwords.ts';

/** Each check takes memory and a thread for some 50 ms; more than this at once are turned away. */
const atOnce = 16;
const nameMaxLength = 256;
const passwordMaxLength = 256;
let checking = 0;

/**
 * Throws 50126 for an unknown name as for a wrong password, so that nobody learns which names there are; 50053 after too many wrong
 * ones, 50057 for a disabled account.
 */
export async function signIn(entra: Entra, tenant: Tenant, name: string, password: string): Promise<User> {
  if (name.length > nameMaxLength || password.length > passwordMaxLength) throw aadsts.password();
  const attempt = `${tenant.id} ${name.toLowerCase()}`;
  if (entra.signIns.isLocked(attempt)) throw aadsts.locked();
  if (checking >= atOnce) throw aadsts.busy();
  const user = entra.objects.user(tenant.id, name);
  checking++;
  const right = await isPassword(user?.passwordHash, new Secret(password)).finally(() => {
    checking--;
  });
  if (!user || !right) {
    entra.signIns.wrong(attempt);
    throw aadsts.password();
  }
  if (!user.accountEnabled) throw aadsts.userDisabled();
  entra.signIns.right(attempt);
  return user;
}
