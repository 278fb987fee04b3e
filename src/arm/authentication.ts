// Who calls, decided before a byte of the body is read; and what ARM says in headers that only ARM may set.
import type { FastifyInstance, FastifyRequest } from 'fastify';
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

export function authentication(app: FastifyInstance, authenticate: Authenticate): void {
  app.addHook('onRequest', (request, _reply, done) => {
    let answer: CallerIdentity | Promise<CallerIdentity>;
    try {
      answer = authenticate(request);
    } catch (error) {
      done(asError(error));
      return;
    }
    if (answer instanceof Promise) {
      answer.then(
        (caller) => {
          accept(request, caller);
          done();
        },
        (error) => done(asError(error)),
      );
      return;
    }
    accept(request, answer);
    done();
  });
}

/** A header that counts only from ARM; from anybody else it is as if absent. */
export function armHeader(request: FastifyRequest, name: string): string | undefined {
  return request.arm.fromArm ? headerOf(request, name) : undefined;
}

function accept(request: FastifyRequest, caller: CallerIdentity): void {
  const arm = request.arm;
  arm.caller = caller.name;
  arm.fromArm = caller.isArm;
  if (!caller.isArm) return;
  arm.homeTenantId = checked(request, 'x-ms-home-tenant-id', isGuid);
  arm.clientObjectId = checked(request, 'x-ms-client-object-id', isGuid);
  arm.clientPrincipalName = checked(request, 'x-ms-client-principal-name', isPrincipalName);
  arm.identityUrl = checked(request, 'x-ms-identity-url', isUrl);
  arm.notificationUri = checked(request, 'azure-asyncnotificationuri', isUrl);
}

function checked(request: FastifyRequest, name: string, valid: (value: string) => boolean): string | undefined {
  const value = headerOf(request, name);
  if (value === undefined || valid(value)) return value;
  request.log.warn({ header: name }, 'a header from ARM is malformed and was ignored');
  return undefined;
}

function isPrincipalName(value: string): boolean {
  return value.length <= 1024;
}

/** Only its form: where it may point is the guarded client's business. */
function isUrl(value: string): boolean {
  return value.length <= 2048 && URL.canParse(value);
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('authentication failed', { cause: thrown });
}
