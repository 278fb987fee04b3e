// Paths of the front door beside those of Resource Manager: where providers tell the end of operations, by which certificate they know
// Resource Manager, and where they are registered.
import type { FastifyInstance } from 'fastify';
import { checkBody } from '../../../arm/check-body.ts';
import { ArmError } from '../../../arm/errors.ts';
import type { KeyedCertificate } from '../../../pki/certificate.ts';
import { authenticationMetadata } from './arm-certificate.ts';
import { endpointNameForm, endpointSchema } from './endpoint.ts';
import type { FrontDoor } from './front-door.ts';

/** On the app that serves Resource Manager. The address of a notification is its own proof. */
export function frontDoorRoutes(app: FastifyInstance, door: FrontDoor, certificate: () => KeyedCertificate): void {
  app.post('/_notifications/:token', async (request, reply) => {
    const { token } = request.params as { readonly token: string };
    const isKnown = await door.notified(token);
    return isKnown
      ? reply.code(200).send({})
      : reply
          .code(404)
          .send({ error: { code: 'NotFound', message: 'There is no operation to tell of at this address.' } });
  });
  app.get('/metadata/authentication', async () => authenticationMetadata(certificate()));
}

/** Below the paths of control, behind its token. */
export function frontDoorControl(scope: FastifyInstance, door: FrontDoor): void {
  scope.get('/resource-providers', async () => ({ value: door.endpoints() }));
  scope.put('/resource-providers/:name', async (request) => {
    const { name } = request.params as { readonly name: string };
    if (!endpointNameForm.test(name))
      throw new ArmError(400, 'InvalidName', 'The name has 1 to 63 lower-case letters, digits and hyphens.');
    const endpoint = { ...checkBody(endpointSchema, request.body), name };
    await door.register(endpoint);
    return endpoint;
  });
  scope.delete('/resource-providers/:name', async (request, reply) => {
    const { name } = request.params as { readonly name: string };
    if (!(await door.unregister(name))) throw new ArmError(404, 'NotFound', 'There is no endpoint of this name.');
    return reply.code(204).send();
  });
}
