// What is asked of subscriptions and groups beside the resources themselves: lists, moves, exports, names.
import { checkBody } from '../../../arm/check-body.ts';
import { ArmError } from '../../../arm/errors.ts';
import { isGuid, isResourceName, parseResourceId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import { type ArmCall, ok } from '../arm/call.ts';
import { listGroups, listResources } from '../arm/collection-requests.ts';
import { type OperationPath, pollOperation } from '../arm/operations.ts';
import type { ArmRoute } from '../arm/routes.ts';
import { ownVersions as apiVersions } from './api-versions.ts';

const subscription = '/subscriptions/{subscriptionId}';
const group = `${subscription}/resourceGroups/{groupName}`;

export const groupRoutes: readonly ArmRoute[] = [
  {
    method: 'GET',
    path: `${subscription}/resourceGroups`,
    apiVersions,
    run: (call, { parameters }) => listGroups(call, parameters.subscriptionId ?? ''),
  },
  { method: 'GET', path: `${subscription}/resources`, apiVersions, run: (call) => listResources(call, above(call)) },
  { method: 'GET', path: `${group}/resources`, apiVersions, run: (call) => listResources(call, above(call)) },
  {
    method: 'GET',
    path: `${subscription}/operationresults/{operation}`,
    apiVersions,
    run(call, { parameters: { subscriptionId, operation = '' } }) {
      const path: OperationPath = { subscriptionId, operation: isGuid(operation) ? operation : '', asks: 'result' };
      return pollOperation(call, path);
    },
  },
  refused(`${group}/exportTemplate`, 'ExportTemplateNotSupported', 'resourceGroups/exportTemplate'),
  refused(`${group}/moveResources`, 'ResourceMoveNotSupported', 'resourceGroups/moveResources'),
  refused(`${group}/validateMoveResources`, 'ResourceMoveNotSupported', 'resourceGroups/validateMoveResources'),
  {
    method: 'POST',
    path: '/providers/Microsoft.Resources/checkResourceName',
    apiVersions,
    async run(call) {
      const { name, type } = checkBody(nameSchema, call.body);
      const word = reservedWords.find((reserved) => name.toLowerCase().includes(reserved));
      if (word !== undefined)
        throw new ArmError(
          400,
          'ReservedResourceName',
          `The resource name '${name.slice(0, 128)}' or a part of the name is a trademarked or reserved word.`,
        );
      if (!isResourceName(name))
        throw new ArmError(400, 'InvalidResourceName', `The resource name '${name.slice(0, 128)}' is not valid.`);
      return ok({ name, type, status: 'Allowed' });
    },
  },
];

const nameSchema = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 1024 }),
  type: Type.String({ minLength: 1, maxLength: 1024 }),
});
const reservedWords = ['microsoft', 'windows', 'xbox'];

/** The subscription or group whose list it is. */
function above(call: ArmCall) {
  const parsed = parseResourceId(`/${call.segments.slice(0, -1).join('/')}`);
  if (parsed.ok) return parsed.id;
  throw new ArmError(400, 'BadRequest', 'The request path is not valid.');
}

/** Paths that Azure has and this cloud does not: said clearly, instead of a 404 that looks like a mistake of the caller. */
function refused(path: string, code: string, action: string): ArmRoute {
  return {
    method: 'POST',
    path,
    apiVersions,
    action: `Microsoft.Resources/subscriptions/${action}/action`,
    async run() {
      throw new ArmError(
        409,
        code,
        'The embedded Azure does not do this: it neither moves resources nor exports templates.',
      );
    },
  };
}
