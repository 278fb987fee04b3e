// The names of this cloud. Every service of it has a host name under one suffix; clients reach them all at one TLS port, straight
// at the origin (Resource Manager, Entra ID, Graph) or through the proxy (the names of vaults, accounts, registries, zones).

/** What kinds of data-plane hosts there are, and the label between a resource's name and the suffix. */
export const dataPlaneLabels = {
  vault: 'vault',
  blob: 'blob.storage',
  web: 'web.storage',
  registry: 'azurecr',
  frontDoor: 'azurefd',
  eventGrid: 'eventgrid',
  postgres: 'postgres.database',
  documents: 'documents',
  clusterIssuer: 'oic.prod-aks',
  authorization: 'authorization',
  identity: 'identity',
} as const;

export type DataPlane = keyof typeof dataPlaneLabels;

export interface Cloud {
  /** As `az cloud register -n` names it. */
  readonly name: string;
  /** All host names end with it. Names under `.test` never leave the machine. */
  readonly suffix: string;
  /** `https://localhost:<port>`: Resource Manager, Entra ID, Graph and metadata, by path; no proxy needed. */
  readonly origin: string;
  /** The CONNECT proxy, `http://127.0.0.1:<port>`. */
  readonly proxy: string;
  /** The region's locations, by name. */
  readonly locations: readonly Location[];
}

export interface Location {
  readonly name: string;
  readonly displayName: string;
  readonly pairedWith?: string;
  /** Whether resources may ask for zones 1 to 3 there. */
  readonly zones: boolean;
}

/** `myvault.vault.azure.test`. */
export function dataPlaneHost(cloud: Pick<Cloud, 'suffix'>, plane: DataPlane, name: string): string {
  return `${name.toLowerCase()}.${dataPlaneLabels[plane]}.${cloud.suffix}`;
}

/** Which data plane a host name belongs to, and whose; undefined for names outside of this cloud or below no plane. */
export function dataPlaneOf(
  cloud: Pick<Cloud, 'suffix'>,
  host: string,
): { readonly plane: DataPlane; readonly name: string } | undefined {
  const lower = host.toLowerCase();
  for (const [plane, label] of Object.entries(dataPlaneLabels) as [DataPlane, string][]) {
    const ending = `.${label}.${cloud.suffix}`;
    if (lower.length > ending.length && lower.endsWith(ending)) return { plane, name: lower.slice(0, -ending.length) };
  }
  return undefined;
}
