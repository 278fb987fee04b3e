// What the endpoints of Entra ID and Graph work with.
import type { Logger } from '../../../kit/log.ts';
import type { Cloud } from '../cloud.ts';
import type { Clock } from '../kernel/clock.ts';
import { aadsts } from './aadsts.ts';
import type { AtOnce } from './at-once.ts';
import type { Attempts } from './attempts.ts';
import type { Audiences } from './audiences.ts';
import type { BearerCheck } from './bearer.ts';
import type { FederatedCredential, Tenant } from './directory-objects.ts';
import type { Grants } from './grants.ts';
import type { IssuerKeys } from './issuer-keys.ts';
import type { ObjectTable } from './object-table.ts';
import type { PageSeal } from './page-seal.ts';
import type { Rate } from './rate.ts';
import type { SigningKeys } from './signing-keys.ts';
import type { TokenIssuer } from './tokens.ts';

export interface Entra {
  readonly cloud: Pick<Cloud, 'origin' | 'suffix'>;
  readonly tenants: readonly [Tenant, ...Tenant[]];
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
  readonly objects: ObjectTable;
  readonly keys: SigningKeys;
  readonly tokens: TokenIssuer;
  readonly audiences: Audiences;
  readonly grants: Grants;
  readonly bearer: BearerCheck;
  readonly signIns: Attempts;
  readonly passwordChecks: AtOnce;
  readonly userCodes: Attempts;
  /** Codes for devices are kept for whoever asks. */
  readonly deviceStarts: Rate;
  readonly issuerKeys: IssuerKeys;
  readonly pages: PageSeal;
  /** Those of a managed identity, by its resource id. */
  readonly federatedCredentialsOf: (resourceId: string) => Promise<readonly FederatedCredential[]>;
}

/** Names that stand for whichever tenant a user is of; here that is the first one. */
const anyTenant: ReadonlySet<string> = new Set(['common', 'organizations', 'adfs']);
const domainForm = /^[a-z0-9][a-z0-9.-]{0,252}$/;

/** The tenant that a path names, by id, domain or a word for any. Throws 90002, 900023. */
export function tenantOf(entra: Pick<Entra, 'tenants'>, segment: string): Tenant {
  const name = segment.toLowerCase();
  if (anyTenant.has(name)) return entra.tenants[0];
  const tenant = entra.tenants.find(({ id, domain }) => id === name || domain.toLowerCase() === name);
  if (tenant) return tenant;
  throw domainForm.test(name) ? aadsts.tenant(segment) : aadsts.tenantForm(segment);
}

/** The host that names the sign-in service; clients that reach it there get links and issuers there. */
export function loginHost(entra: Pick<Entra, 'cloud'>): string {
  return `login.${entra.cloud.suffix}`;
}

/** Every place where this cloud's issuers are. */
export function issuerBases(entra: Pick<Entra, 'cloud'>): readonly string[] {
  return [entra.cloud.origin, `https://${loginHost(entra)}`];
}

/** Where links and issuers start for a request: never from a name that a client makes up. */
export function baseOf(entra: Pick<Entra, 'cloud'>, host: string): string {
  const name = host.toLowerCase().replace(/:443$/, '');
  return name === loginHost(entra) ? `https://${loginHost(entra)}` : entra.cloud.origin;
}
