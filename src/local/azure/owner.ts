// The service principal that owns a cloud to begin with.
import { stableId } from './entra/seed.ts';

/** The same for every cloud of a tenant, so that whoever has the data directory knows them. */
export function ownerIds(tenantId: string): { readonly clientId: string; readonly objectId: string } {
  return { clientId: stableId('owner', tenantId), objectId: stableId('owner principal', tenantId) };
}
