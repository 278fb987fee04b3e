// The OpenAPI document of the REST API.
import { basePath } from './maestro-error.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const answers = (description: string, schema: string) => ({
  description,
  content: { 'application/json': { schema: ref(schema) } },
});
const failures = {
  '400': answers('The request cannot be read', 'Error'),
  '401': answers('The caller is not known', 'Error'),
  '403': answers('The caller may not do this', 'Error'),
  '404': answers('There is no such thing', 'Error'),
};
const text = { type: 'string' };
const time = { type: 'string', format: 'date-time' };
const labels = { type: 'object', additionalProperties: text };
const anything = { type: 'object', additionalProperties: true };
const listParameters = ['page', 'size', 'search', 'orderBy', 'fields'].map((name) => ({
  name,
  in: 'query',
  schema: name === 'page' || name === 'size' ? { type: 'integer' } : text,
}));
const idParameter = [{ name: 'id', in: 'path', required: true, schema: text }];
const body = (schema: string) => ({ required: true, content: { 'application/json': { schema: ref(schema) } } });
const list = (item: string) => ({
  type: 'object',
  required: ['kind', 'page', 'size', 'total', 'items'],
  properties: {
    kind: text,
    page: { type: 'integer' },
    size: { type: 'integer' },
    total: { type: 'integer' },
    items: { type: 'array', items: ref(item) },
  },
});

export const openApi: Readonly<Record<string, unknown>> = {
  openapi: '3.0.0',
  info: { title: 'maestro Service API', version: '0.0.1', description: 'maestro Service API' },
  paths: {
    [`${basePath}/consumers`]: {
      get: {
        parameters: listParameters,
        responses: { '200': answers('A page of consumers', 'ConsumerList'), ...failures },
      },
      post: {
        requestBody: body('Consumer'),
        responses: { '201': answers('Created', 'Consumer'), '409': answers('The name is taken', 'Error'), ...failures },
      },
    },
    [`${basePath}/consumers/{id}`]: {
      parameters: idParameter,
      get: { responses: { '200': answers('The consumer', 'Consumer'), ...failures } },
      patch: {
        requestBody: body('ConsumerPatchRequest'),
        responses: { '200': answers('Changed', 'Consumer'), ...failures },
      },
      delete: { responses: { '204': { description: 'Deleted' }, ...failures } },
    },
    [`${basePath}/resource-bundles`]: {
      get: {
        parameters: listParameters,
        responses: { '200': answers('A page of resource bundles', 'ResourceBundleList'), ...failures },
      },
    },
    [`${basePath}/resource-bundles/{id}`]: {
      parameters: idParameter,
      get: { responses: { '200': answers('The resource bundle', 'ResourceBundle'), ...failures } },
      delete: { responses: { '204': { description: 'Being deleted' }, ...failures } },
    },
  },
  components: {
    securitySchemes: { Bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    schemas: {
      Consumer: {
        type: 'object',
        properties: { id: text, kind: text, href: text, name: text, labels, created_at: time, updated_at: time },
      },
      ConsumerPatchRequest: { type: 'object', properties: { labels } },
      ConsumerList: list('Consumer'),
      ResourceBundle: {
        type: 'object',
        properties: {
          id: text,
          kind: text,
          href: text,
          name: text,
          consumer_name: text,
          version: { type: 'integer' },
          created_at: time,
          updated_at: time,
          deleted_at: time,
          metadata: anything,
          manifests: { type: 'array', items: anything },
          manifest_configs: { type: 'array', items: anything },
          delete_option: anything,
          status: anything,
        },
      },
      ResourceBundleList: list('ResourceBundle'),
      Error: {
        type: 'object',
        properties: { id: text, kind: text, href: text, code: text, reason: text, operation_id: text },
      },
    },
  },
  security: [{ Bearer: [] }],
};
