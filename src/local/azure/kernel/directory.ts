// Entra ID as the rest of the cloud sees it.
import type { Secret } from '../../../kit/secret.ts';
import type { CallerIdentity } from './provider.ts';

export interface ManagedIdentity {
  readonly tenantId: string;
  readonly clientId: string;
  readonly principalId: string;
}

export interface Directory {
  /** The tenant that the subscriptions are in. */
  readonly tenantId: string;
  /**
   * Who a bearer token is from. Throws ArmError 401 in the words of ARM: missing, malformed, expired, wrong audience, wrong issuer,
   * of a principal that is gone. `audiences` are those the asked service accepts.
   */
  authenticate(authorization: string | undefined, audiences: readonly string[]): Promise<CallerIdentity>;
  /** A service principal for a managed identity, named in advance by the resource's id: asked again it gives the same one. */
  ensureManagedIdentity(resourceId: string, name: string): Promise<ManagedIdentity>;
  removeManagedIdentity(resourceId: string): Promise<void>;
  /** Whether there is such a user, group or service principal, and of which kind. */
  principal(
    objectId: string,
  ): Promise<{ readonly kind: 'User' | 'Group' | 'ServicePrincipal'; readonly name: string } | undefined>;
  /** A token that this cloud signs, for services of it that call others (ARM towards resource providers). */
  issue(claims: {
    readonly audience: string;
    readonly appId: string;
    readonly objectId: string;
  }): Promise<Secret<string>>;
}
