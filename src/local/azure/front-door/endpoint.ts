// A resource provider that stands behind Resource Manager: where it is and what it serves, as data.
import type { Static } from 'typebox';
import { Type } from '../../../arm/type.ts';

const typeName = Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_.-]*(/[A-Za-z][A-Za-z0-9_.-]*){0,7}$', maxLength: 260 });

const endpointType = Type.Object(
  {
    /** Below the namespace: `openShiftClusters`, `locations/operationsstatus`. */
    type: typeName,
    /** Newest first. */
    apiVersions: Type.Array(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}(-[a-z]+)?$' }), {
      minItems: 1,
      maxItems: 100,
    }),
    /** Names of locations; all of the cloud when left out. */
    locations: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z0-9-]{1,90}$' }), { maxItems: 200 })),
    /** A resource in a group with a location and tags: Resource Manager lists it and deletes it with its group. */
    tracked: Type.Optional(Type.Boolean()),
    /** POST actions that templates may call, such as `listCredentials`. */
    actions: Type.Optional(Type.Array(Type.String({ pattern: '^[A-Za-z][A-Za-z0-9]{0,63}$' }), { maxItems: 50 })),
  },
  { additionalProperties: false },
);

export const endpointSchema = Type.Object(
  {
    namespace: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9]*(\\.[A-Za-z0-9]+)+$', maxLength: 128 }),
    /** `https://host[:port]`, perhaps with a path before all others. */
    url: Type.String({ pattern: '^https://[^/?#@\\s]+(/[^?#\\s]*)?$', maxLength: 1024 }),
    /** PEM of what its certificate must come from; the cloud's own authority when left out. */
    ca: Type.Optional(Type.String({ maxLength: 65_536 })),
    /** The name in its certificate; the URL's host when left out. */
    serverName: Type.Optional(Type.String({ minLength: 1, maxLength: 253 })),
    /** What Resource Manager's token is made out to; none is sent when left out. */
    audience: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    types: Type.Array(endpointType, { minItems: 1, maxItems: 200 }),
  },
  { additionalProperties: false },
);

export type EndpointType = Static<typeof endpointType>;

/** Several endpoints may share a namespace, each with types of its own. */
export type Endpoint = Static<typeof endpointSchema> & {
  /** Tells it from others, such as `classic` and `hcp`. */
  readonly name: string;
};

export const endpointNameForm = /^[a-z0-9][a-z0-9-]{0,62}$/;
