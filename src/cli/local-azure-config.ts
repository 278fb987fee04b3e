// The file of `aro local azure --config`: what a cloud can be told beyond its options. docs/local-azure.md shows one.
import { type Static, Type } from 'typebox';
import { loadConfig } from '../kit/config.ts';
import { secret } from '../kit/config-schema.ts';
import { type AzureConfig, type SubscriptionConfig, subscriptionStates } from '../local/azure/config.ts';
import { endpointSchema } from '../local/azure/front-door/endpoint.ts';
import { faultSchema } from '../local/azure/kernel/faults.ts';

const guid = Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' });
const text = Type.String({ minLength: 1, maxLength: 256 });
const texts = Type.Array(text, { maxItems: 1000 });
const bucket = Type.Object({
  capacity: Type.Integer({ minimum: 1, description: 'calls at once' }),
  refillPerSecond: Type.Number({ exclusiveMinimum: 0, description: 'calls that may be made again each second' }),
});

const fileSchema = Type.Object({
  subscriptions: Type.Optional(
    Type.Array(
      Type.Object({
        subscriptionId: guid,
        displayName: Type.Optional(text),
        state: Type.Optional(Type.Union(subscriptionStates.map((state) => Type.Literal(state)))),
        register: Type.Optional(Type.Union([Type.Literal('all'), texts])),
      }),
      { maxItems: 1000 },
    ),
  ),
  locations: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String({ pattern: '^[a-z0-9]{1,90}$' }),
        displayName: text,
        pairedWith: Type.Optional(text),
        zones: Type.Boolean(),
      }),
      { minItems: 1, maxItems: 200 },
    ),
  ),
  faults: Type.Optional(Type.Array(faultSchema, { maxItems: 1000 })),
  throttling: Type.Optional(Type.Object({ reads: bucket, writes: bucket, deletes: bucket })),
  owners: Type.Optional(Type.Array(guid, { maxItems: 1000 })),
  directory: Type.Optional(
    Type.Object({
      users: Type.Optional(
        Type.Array(
          Type.Object({
            userPrincipalName: text,
            displayName: text,
            password: Type.Optional(secret({ description: 'what the user signs in with' })),
            objectId: Type.Optional(guid),
            admin: Type.Optional(Type.Boolean()),
          }),
          { maxItems: 10_000 },
        ),
      ),
      groups: Type.Optional(
        Type.Array(Type.Object({ displayName: text, objectId: Type.Optional(guid), members: texts }), {
          maxItems: 10_000,
        }),
      ),
      applications: Type.Optional(
        Type.Array(
          Type.Object({
            displayName: text,
            appId: guid,
            objectId: Type.Optional(guid),
            secret: Type.Optional(secret({ description: "the application's secret" })),
            certificate: Type.Optional(Type.String({ minLength: 1 })),
            identifierUris: Type.Optional(texts),
            graphRoles: Type.Optional(texts),
          }),
          { maxItems: 10_000 },
        ),
      ),
    }),
  ),
  resourceProviders: Type.Optional(
    Type.Array(
      Type.Object({ name: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' }), ...endpointSchema.properties }),
      { maxItems: 100 },
    ),
  ),
});

type FileSettings = Static<typeof fileSchema>;

/** What a file says of a cloud. Throws ConfigError with everything that is wrong and where it stands. */
export function readCloudFile(file: string): Partial<AzureConfig> {
  const { subscriptions, ...settings }: FileSettings = loadConfig(fileSchema, { file });
  return {
    ...(settings as Partial<AzureConfig>),
    ...(subscriptions === undefined ? {} : { subscriptions: subscriptions.map(subscriptionOf) }),
  };
}

function subscriptionOf(
  { displayName, ...given }: NonNullable<FileSettings['subscriptions']>[number],
  at: number,
): SubscriptionConfig {
  return { register: 'all', ...given, displayName: displayName ?? `Local ${at + 1}` } as SubscriptionConfig;
}
