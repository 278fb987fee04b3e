/** Who makes a request, as authentication found out. */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** One question to authorisation. */
export type AccessQuestion =
  | {
      readonly kind: 'resource';
      readonly verb: string;
      readonly group: string;
      readonly version: string;
      readonly resource: string;
      readonly subresource: string;
      readonly namespace: string;
      readonly name: string;
    }
  | { readonly kind: 'path'; readonly verb: string; readonly path: string };

export interface AccessAnswer {
  readonly allowed: boolean;
  /** Kubernetes' own words for why, such as the role binding that allowed it. */
  readonly reason: string;
}
