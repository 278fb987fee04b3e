// A small resource provider, for tests: widgets in a store, behind the whole of src/arm.
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Container, Document } from '../../store/store.ts';
import type { Authenticate } from '../authentication.ts';
import { checkBody } from '../check-body.ts';
import { checkPreconditions, entityTag, isNotModified } from '../conditional.ts';
import { ArmError, notFound } from '../errors.ts';
import { notificationAddresses } from '../notification-address.ts';
import { advanceOperation, createOperation, isOperation, newOperation, type OperationDocument } from '../operation.ts';
import { announceOperation, type OperationOptions } from '../operation-paths.ts';
import { operationRoutes } from '../operation-routes.ts';
import { listAnswer, type PagingOptions, pageRequest } from '../paging.ts';
import { type ArmOptions, armScope } from '../plugin.ts';
import { preflight } from '../preflight.ts';
import { idKey, isGuid, isResourceGroupName, isResourceName, parseResourceId } from '../resource-id.ts';
import { Enum, MapOf, Nullable, SecretText } from '../schema.ts';
import { armServerOptions } from '../server-options.ts';
import type { GateRow, Subscription } from '../subscription-gate.ts';
import { mergeSystemData, type SystemData, systemDataOf } from '../system-data.ts';
import { demoRing } from './demo-store.ts';

export const subscriptionId = '11111111-2222-3333-4444-555555555555';
export const tenantId = 'aaaaaaaa-0000-0000-0000-000000000001';
export const versions = ['2024-01-01', '2025-01-01-preview'] as const;
export const groupPath = `/subscriptions/${subscriptionId}/resourceGroups/Group-One`;
export const provider = 'Demo.Widgets';

export const Widget = Type.Object(
  {
    location: Type.String({ minLength: 1 }),
    tags: Type.Optional(MapOf(Type.String({ maxLength: 256 }))),
    properties: Type.Object(
      {
        size: Type.Integer({ minimum: 1, maximum: 10 }),
        colour: Type.Optional(Enum(['Red', 'Green'])),
        note: Type.Optional(Nullable(Type.String({ maxLength: 10 }))),
        password: Type.Optional(SecretText({ maxLength: 8 })),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);

export interface WidgetDocument {
  readonly documentType: 'widget';
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly location: string;
  readonly properties: object;
  readonly provisioningState: string;
  readonly systemData: SystemData;
  readonly activeOperationId?: string;
}

export type DemoDocument = WidgetDocument | OperationDocument;

export interface DemoOptions {
  readonly container: Container<DemoDocument>;
  readonly log?: FastifyBaseLogger;
  readonly subscriptions?: Map<string, Subscription>;
  readonly authenticate?: Authenticate;
  readonly body?: ArmOptions['body'];
  readonly output?: ArmOptions['output'];
}

/** The header that makes a caller ARM here; `deny` makes it nobody. */
export const armCaller = { 'x-demo-caller': 'arm' };

const all = (verdict: GateRow['read']): GateRow => ({
  read: verdict,
  write: verdict,
  delete: verdict,
  action: verdict,
});
const readOrDelete: GateRow = { read: 'allow', write: 409, delete: 'allow', action: 409 };

export const operationOptions: OperationOptions = {
  paths: { provider, statusSegment: 'widgetStatuses', resultSegment: 'widgetResults' },
  links: { origin: 'https://demo.example' },
  retryAfterSeconds: 7,
};

const paging: PagingOptions = { keyRing: demoRing, links: operationOptions.links, pageSize: 3 };

export const defaultSubscriptions = () =>
  new Map<string, Subscription>([[subscriptionId, { state: 'Registered', tenantId }]]);

function armOptions(options: DemoOptions): ArmOptions {
  const subscriptions = options.subscriptions ?? defaultSubscriptions();
  return {
    authenticate:
      options.authenticate ??
      ((request) => {
        const caller = request.headers['x-demo-caller'];
        if (caller === 'deny') throw new ArmError(403, 'Forbidden', 'The caller is not allowed.');
        return { name: caller === 'arm' ? 'arm' : 'customer', isArm: caller === 'arm' };
      }),
    pathParameters: {
      subscriptionId: {
        valid: isGuid,
        code: 'InvalidSubscriptionID',
        message: (shown) => `The provided subscription identifier '${shown}' is malformed or invalid.`,
      },
      resourceGroupName: {
        valid: isResourceGroupName,
        code: 'InvalidResourceGroupName',
        message: (shown) => `Resource group '${shown}' is invalid.`,
      },
      widgetName: {
        valid: isResourceName,
        code: 'InvalidResourceName',
        message: (shown) => `The name '${shown}' is invalid.`,
      },
    },
    apiVersion: {
      supported: versions,
      missing: () => new ArmError(400, 'InvalidParameter', "The 'api-version' query parameter is required."),
      unknown: (given, supported) =>
        new ArmError(
          400,
          'InvalidResourceType',
          `The resource type has no api-version '${given}'. Supported: ${supported.join(', ')}.`,
        ),
    },
    subscriptionGate: {
      lookup: async (id) => subscriptions.get(id),
      states: {
        Registered: all('allow'),
        Warned: readOrDelete,
        Suspended: readOrDelete,
        Unregistered: all(400),
        Deleted: all(400),
      },
      missing: all(400),
      other: all(409),
    },
    body: options.body ?? { limitBytes: 64 * 1024, maxDepth: 20 },
    output: outputOf(options),
    notificationAddress: notificationAddresses({ allowedHosts: ['localhost', '.azure.com'] }),
  };
}

function outputOf(options: DemoOptions): ArmOptions['output'] {
  return options.output ?? { indent: 4, finalNewline: false };
}

interface Names {
  readonly subscriptionId: string;
  readonly resourceGroupName: string;
  readonly widgetName: string;
}

/** Not listening yet. */
export function demoProvider(options: DemoOptions): FastifyInstance {
  const { container } = options;
  const app = Fastify({
    ...armServerOptions({ bodyTooLargeStatus: options.body?.tooLargeStatus ?? 400, output: outputOf(options) }),
    ...(options.log ? { loggerInstance: options.log } : {}),
  }) as unknown as FastifyInstance;
  const group = `/subscriptions/:subscriptionId/resourceGroups/:resourceGroupName/providers/${provider}`;

  app.register(
    armScope(armOptions(options), (scope) => {
      scope.get(`/providers/${provider}/operations`, { config: { arm: { apiVersions: false } } }, () => ({
        value: [],
      }));

      scope.get<{ Params: Names }>(`${group}/widgets/:widgetName`, async (request, reply) => {
        const stored = await readWidget(request, container);
        if (!stored) throw notFound(idOf(request));
        if (isNotModified(request, reply, stored.etag)) return reply.code(304).send();
        return shown(stored.body, idOf(request).text);
      });

      scope.get<{ Params: Names }>(`${group}/widgets`, async (request) => {
        const page = await container.query({
          partition: request.params.subscriptionId.toLowerCase(),
          filter: { op: 'eq', field: ['documentType'], value: 'widget' },
          ...pageRequest(request, paging),
        });
        const value = page.documents.map(({ body }) => (isOperation(body) ? {} : shown(body, body.id)));
        return listAnswer(request, paging, value, page.continuation);
      });

      scope.put<{ Params: Names }>(`${group}/widgets/:widgetName`, async (request, reply) => {
        const stored = await readWidget(request, container);
        checkPreconditions(request, stored?.etag);
        const given = checkBody(Widget, request.body);
        const id = idOf(request);
        const now = new Date();
        const operation = newOperation(
          request,
          {
            request: stored ? 'Update' : 'Create',
            status: 'Accepted',
            subscriptionId: request.params.subscriptionId,
            location: 'westeurope',
            resourceId: id.text,
          },
          now,
        );
        const { password: _, ...properties } = given.properties;
        const body: WidgetDocument = {
          documentType: 'widget',
          id: stored?.body.id ?? id.text,
          key: id.key,
          name: id.name,
          location: given.location,
          properties,
          provisioningState: 'Accepted',
          activeOperationId: operation.operationId,
          systemData: mergeSystemData(stored?.body.systemData, systemDataOf(request), now, {
            by: 'Unknown-demo',
            byType: 'Application',
          }),
        };
        const [written] = await container.batch(request.params.subscriptionId.toLowerCase(), [
          stored ? { kind: 'replace', version: stored, body } : { kind: 'create', id: id.key, body },
          createOperation(operation),
        ]);
        if (written) reply.header('etag', entityTag(written.etag));
        announceOperation(request, reply, operation, { ...operationOptions, location: false });
        return reply.code(stored ? 200 : 201).send(shown(body, id.text));
      });

      scope.delete<{ Params: Names }>(`${group}/widgets/:widgetName`, async (request, reply) => {
        const stored = await readWidget(request, container);
        checkPreconditions(request, stored?.etag);
        if (!stored) return reply.code(204).send();
        const operation = newOperation(
          request,
          {
            request: 'Delete',
            status: 'Deleting',
            subscriptionId: request.params.subscriptionId,
            location: 'westeurope',
            resourceId: stored.body.id,
          },
          new Date(),
        );
        await container.batch(request.params.subscriptionId.toLowerCase(), [
          { kind: 'delete', version: stored },
          createOperation(operation),
        ]);
        announceOperation(request, reply, operation, { ...operationOptions, location: true });
        return reply.code(202).send();
      });

      scope.post<{ Params: Names }>(`${group}/widgets/:widgetName/explode`, () => {
        throw new Error('the secret plan is hunter2');
      });

      scope.post(
        `${group}/deployments/:deploymentName/preflight`,
        { config: { arm: { apiVersions: false } } },
        (request) =>
          preflight(request.body, {
            types: {
              'demo.widgets/widgets': {
                apiVersions: versions,
                validate: ({ members: { name: _name, type: _type, apiVersion: _version, id: _id, ...rest } }) => {
                  checkBody(Widget, rest);
                  return [];
                },
              },
            },
          }),
      );

      operationRoutes(scope, {
        ...operationOptions,
        container,
        results: {
          Create: (operation, request, reply) => result(operation, request, reply, 201),
          Update: (operation, request, reply) => result(operation, request, reply, 200),
        },
      });
    }),
  );

  const result = async (operation: OperationDocument, _: FastifyRequest, reply: FastifyReply, status: number) => {
    const key = { partition: operation.subscriptionId, id: idKey(operation.resourceId) };
    const body = (await container.read(key))?.body;
    return reply.code(status).send(body && !isOperation(body) ? shown(body, body.id) : {});
  };
  return app;
}

/** Ends an operation as a backend would. */
export async function finish(
  container: Container<DemoDocument>,
  operationId: string,
  to: Parameters<typeof advanceOperation>[1],
): Promise<boolean> {
  const stored = await container.read({ partition: subscriptionId, id: `operation:${operationId}` });
  if (!stored || !isOperation(stored.body)) throw new Error('no such operation');
  const step = advanceOperation(stored as Document<OperationDocument>, to, new Date());
  if (step === undefined) return false;
  await container.batch(subscriptionId, [step]);
  return true;
}

function idOf(request: FastifyRequest<{ Params: Names }>) {
  const { subscriptionId: subscription, resourceGroupName, widgetName } = request.params;
  const parsed = parseResourceId(
    `/subscriptions/${subscription}/resourceGroups/${resourceGroupName}/providers/${provider}/widgets/${widgetName}`,
  );
  if (!parsed.ok) throw new ArmError(400, 'InvalidResourceName', parsed.message);
  return parsed.id;
}

async function readWidget(
  request: FastifyRequest<{ Params: Names }>,
  container: Container<DemoDocument>,
): Promise<Document<WidgetDocument> | undefined> {
  const stored = await container.read({
    partition: request.params.subscriptionId.toLowerCase(),
    id: idOf(request).key,
  });
  return stored && !isOperation(stored.body) ? (stored as Document<WidgetDocument>) : undefined;
}

function shown(widget: WidgetDocument, id: string) {
  return {
    id,
    name: widget.name,
    type: `${provider}/widgets`,
    location: widget.location,
    systemData: widget.systemData,
    properties: { ...widget.properties, provisioningState: widget.provisioningState },
  };
}
