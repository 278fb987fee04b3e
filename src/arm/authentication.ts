// Who calls, decided before a byte of the body is read; and what ARM says in headers that only ARM may set.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Secret } from '../kit/secret.ts';
import { ArmError } from './errors.ts';
import { headerOf } from './request.ts';
import { isGuid } from './resource-id.ts';

/** What the product found out about the caller. */
export interface CallerIdentity {
  /** For logs: a certificate's name, an application id. No secrets. */
  readonly name: string;
  /** The caller proved to be ARM. Only then do the headers below, and the Referer, count. */
  readonly isArm: boolean;
}

/** Answers who the caller is or throws an ArmError (`forbidden()`). Runs for unknown paths too. */
export type Authenticate = (request: FastifyRequest) => CallerIdentity | Promise<CallerIdentity>;

/** Headers that count only from ARM. From ARM itself each may be given once. */
const armOnly = [
  'x-ms-home-tenant-id',
  'x-ms-client-object-id',
  'x-ms-client-principal-name',
  'x-ms-identity-url',
  'x-ms-arm-resource-system-data',
  'azure-asyncnotificationuri',
  'referer',
] as const;
export type ArmOnlyHeader = (typeof armOnly)[number];

export function authentication(
  app: FastifyInstance,
  authenticate: Authenticate,
  isNotificationAddress: (address: string) => boolean,
): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const finish = (caller: CallerIdentity): void => {
      const refusal = accept(request, caller, isNotificationAddress);
      if (refusal) done(refusal);
      else done();
    };
    let answer: CallerIdentity | Promise<CallerIdentity>;
    try {
      answer = authenticate(request);
    } catch (error) {
      done(asError(error));
      return;
    }
    if (answer instanceof Promise) {
      answer.then(finish, (error) => done(asError(error)));
      return;
    }
    finish(answer);
  });
}

/** A header that counts only from ARM; from anybody else it is as if absent. */
export function armHeader(request: FastifyRequest, name: ArmOnlyHeader): string | undefined {
  return request.arm.fromArm ? headerOf(request, name) : undefined;
}

function accept(
  request: FastifyRequest,
  caller: CallerIdentity,
  isNotificationAddress: (address: string) => boolean,
): ArmError | undefined {
  const arm = request.arm;
  arm.caller = caller.name;
  arm.fromArm = caller.isArm;
  if (!caller.isArm) return undefined;
  const doubled = givenTwice(request.raw.rawHeaders);
  if (doubled !== undefined) {
    return new ArmError(400, 'InvalidParameter', `The header ${doubled} is given more than once.`, { target: doubled });
  }
  arm.homeTenantId = checked(request, 'x-ms-home-tenant-id', isGuid);
  arm.clientObjectId = checked(request, 'x-ms-client-object-id', isGuid);
  arm.clientPrincipalName = checked(request, 'x-ms-client-principal-name', isPrincipalName);
  arm.identityUrl = checked(request, 'x-ms-identity-url', isUrl);
  const address = checked(request, 'azure-asyncnotificationuri', isNotificationAddress);
  if (address !== undefined) arm.notificationUri = new Secret(address);
  return undefined;
}

/** Of two values somebody on the way may have added one, and readers differ in which they take. */
function givenTwice(rawHeaders: readonly string[]): ArmOnlyHeader | undefined {
  const seen = new Set<ArmOnlyHeader>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i]?.toLowerCase();
    const name = armOnly.find((one) => one === given);
    if (name === undefined) continue;
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

function checked(request: FastifyRequest, name: ArmOnlyHeader, valid: (value: string) => boolean): string | undefined {
  const value = headerOf(request, name);
  if (value === undefined || valid(value)) return value;
  request.log.warn({ header: name }, 'a header from ARM is not acceptable and was ignored');
  return undefined;
}

function isPrincipalName(value: string): boolean {
  return value.length <= 1024;
}

/** Only its form: where it may point is the business of the client that goes there. */
function isUrl(value: string): boolean {
  return value.length <= 2048 && URL.canParse(value);
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('authentication failed', { cause: thrown });
}
