// What the plugins know of a request, on `request.arm`.
import type { FastifyRequest } from 'fastify';
import type { Secret } from '../kit/secret.ts';
import type { Subscription } from './subscription-gate.ts';

/** Filled in by the plugins, in the order plugin.ts gives; later members are empty until their plugin has run. */
export interface ArmRequest {
  /** A new GUID; returned as `x-ms-request-id` and named by error messages. */
  readonly requestId: string;
  /** From ARM or the client when well-formed, else made here. */
  readonly correlationId: string;
  readonly clientRequestId: string | undefined;
  /** When it arrived, by `performance.now()`. */
  readonly startedAt: number;
  /** The route's pattern; undefined when no route matched. */
  readonly pattern: string | undefined;
  readonly route: ArmRoute;
  /** Who calls, for logs. */
  caller: string;
  /** The caller is ARM itself, so the headers that only ARM may set count. */
  fromArm: boolean;
  /** `x-ms-home-tenant-id`, or the subscription's tenant. */
  homeTenantId: string | undefined;
  clientObjectId: string | undefined;
  clientPrincipalName: string | undefined;
  /** Where the managed identity's credentials are, as ARM said. */
  identityUrl: string | undefined;
  /** Where ARM wants to hear of the end of the operation that this request starts. Whoever knows it can speak there. */
  notificationUri: Secret | undefined;
  /** The version in its registered spelling; empty on routes that take none. */
  apiVersion: string;
  subscription: Subscription | undefined;
  /** The code of the error answered, for the log. */
  errorCode: string | undefined;
  /** Its line has been written. */
  logged: boolean;
}

/** What a route may say of itself, as `config: { arm: … }`. */
export interface ArmRoute {
  /** Versions this route has, when not all; false when it takes no api-version. */
  readonly apiVersions?: readonly string[] | false;
  /**
   * False when the subscription is not looked at here; `lookup` when its state does not matter but its tenant does. Left out, the
   * gate decides.
   */
  readonly subscriptionGate?: false | 'lookup';
}

declare module 'fastify' {
  interface FastifyRequest {
    arm: ArmRequest;
  }
  interface FastifyContextConfig {
    arm?: ArmRoute;
  }
}

/**
 * A request's target from its path on. A target that names scheme and host, as for a proxy, is served as if it named neither (RFC 9112,
 * 3.2.2): which host was meant has no say in anything here.
 */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const rest = target.replace(/^https?:\/\/[^/?#]*/i, '');
  return rest === '' || rest.startsWith('?') || rest.startsWith('#') ? `/${rest}` : rest;
}

/** The path as it came, without the query. */
export function pathOf(request: FastifyRequest): string {
  const url = originForm(request.originalUrl);
  const end = url.search(/[?#]/);
  return end === -1 ? url : url.slice(0, end);
}

/**
 * One header as text; undefined when absent or empty. One given more than once is as Node joins it: the values with commas, or for some,
 * such as the Referer, the first. Where that could be half-trusted, authentication.ts has refused it before.
 */
export function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
