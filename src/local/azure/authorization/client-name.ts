// Who is refused, in the words of an error.
import type { CallerIdentity } from '../kernel/provider.ts';

/** People by their sign-in name, applications and managed identities by their application id. */
export function clientName({ kind, name, appId, objectId }: CallerIdentity): string {
  return (kind === 'User' ? name : appId) ?? objectId;
}
