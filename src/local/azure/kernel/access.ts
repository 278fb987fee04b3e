// Who may do what: role assignments, deny assignments and the checks over them.
import type { CallerIdentity } from './provider.ts';

export interface Decision {
  readonly allowed: boolean;
  /** The assignment that decided; undefined where there is none that allows. */
  readonly assignment?: string;
  readonly denied?: boolean;
}

export interface Access {
  /**
   * Whether the caller may do an action (`Microsoft.Network/virtualNetworks/read`) at a scope, by assignments at that scope or above.
   * Assignments count from the time at which they have become visible. `data` asks for data actions.
   */
  check(
    caller: Pick<CallerIdentity, 'objectId' | 'groups'>,
    action: string,
    scope: string,
    data?: boolean,
  ): Promise<Decision>;
  /** Throws the 403 `AuthorizationFailed` ARM gives, naming client, action and scope. */
  demand(caller: CallerIdentity, action: string, scope: string): Promise<void>;
  /** What the caller may do at a scope, in the form of `Microsoft.Authorization/permissions`. */
  permissions(caller: Pick<CallerIdentity, 'objectId' | 'groups'>, scope: string): Promise<readonly Permission[]>;
}

export interface Permission {
  readonly actions: readonly string[];
  readonly notActions: readonly string[];
  readonly dataActions: readonly string[];
  readonly notDataActions: readonly string[];
}
