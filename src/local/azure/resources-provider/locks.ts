// Microsoft.Authorization/locks: what must not be changed or deleted. The kernel holds writes against them.
import { Enum, MapOf } from '../../../arm/schema.ts';
import { Type } from '../../../arm/type.ts';
import type { ResourceType } from '../kernel/provider.ts';

export const locks: ResourceType = {
  type: 'locks',
  apiVersions: ['2020-05-01', '2017-04-01', '2016-09-01', '2015-01-01'],
  scope: 'extension',
  location: 'none',
  name: { form: /^[A-Za-z0-9_.() -]{1,90}$/, rule: "1 to 90 letters, digits, spaces, '_', '.', '-', '(' and ')'" },
  etags: false,
  provisioningState: false,
  schema: Type.Object({
    properties: Type.Object({
      level: Enum(['CanNotDelete', 'ReadOnly']),
      notes: Type.Optional(Type.String({ maxLength: 512 })),
      owners: Type.Optional(Type.Array(MapOf(Type.String()), { maxItems: 100 })),
    }),
  }),
  prepare({ body }) {
    const properties = body.properties as { readonly level: string; readonly notes?: string };
    const { level, notes } = properties;
    return { resource: { properties: { level, ...(notes === undefined ? {} : { notes }) } }, references: {} };
  },
};
