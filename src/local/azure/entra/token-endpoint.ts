// The token endpoint: one function for each kind of grant, in one table.
import { createHash } from 'node:crypto';
import { aadsts } from './aadsts.ts';
import type { AskedScopes, Audience } from './audiences.ts';
import { BearerError } from './bearer.ts';
import { isPublicClient, type ProvenClient, proveClient } from './clients.ts';
import { type Entra, issuerBases } from './context.ts';
import type { Tenant, User } from './directory-objects.ts';
import { type Form, required } from './form.ts';
import { sameText } from './passwords.ts';
import { signIn } from './sign-in.ts';
import { issuerOf, managedIdentityLifeSeconds } from './tokens.ts';

export interface TokenCall {
  readonly tenant: Tenant;
  /** The tenant as the path names it. */
  readonly segment: string;
  /** Of the endpoint: the older names a resource, the newer scopes. */
  readonly version: 1 | 2;
  readonly base: string;
  readonly form: Form;
}

export type TokenAnswer = Readonly<Record<string, string | number>>;

interface Granted {
  readonly user: User;
  readonly client: ProvenClient;
  readonly scope: string;
  readonly signedInAt: number;
  readonly nonce?: string;
}

type GrantFlow = (entra: Entra, call: TokenCall, client: ProvenClient) => Promise<TokenAnswer>;

const flows: Readonly<Record<string, GrantFlow>> = {
  client_credentials: clientCredentials,
  authorization_code: authorizationCode,
  refresh_token: refreshToken,
  password: passwordGrant,
  device_code: deviceCode,
  'urn:ietf:params:oauth:grant-type:device_code': deviceCode,
  'urn:ietf:params:oauth:grant-type:jwt-bearer': onBehalfOf,
};

/** Throws EntraError. */
export async function answerToken(entra: Entra, call: TokenCall): Promise<TokenAnswer> {
  const grantType = required(call.form, 'grant_type');
  const flow = Object.hasOwn(flows, grantType) ? flows[grantType] : undefined;
  if (!flow) throw aadsts.grantType(grantType);
  return flow(entra, call, await proveClient(entra, call.tenant, call.form, assertionAudiences(entra, call)));
}

/** Client libraries address an assertion to the token endpoint or to the issuer, by whichever name they know the tenant. */
function assertionAudiences(entra: Entra, { tenant, segment }: TokenCall): readonly string[] {
  const names = [tenant.id, tenant.domain, segment];
  return issuerBases(entra).flatMap((base) => [
    `${base}/adfs`,
    `${base}/adfs/oauth2/token`,
    ...names.flatMap((name) => [
      issuerOf(base, name, 2),
      `${base}/${name}`,
      `${base}/${name}/oauth2/v2.0/token`,
      `${base}/${name}/oauth2/token`,
    ]),
  ]);
}

/** What the token is for. The older endpoint takes scopes too when no resource is named: clients of AD FS send them there. */
function asked(entra: Entra, call: TokenCall, fallback?: string): AskedScopes {
  const resource = call.version === 1 ? call.form.get('resource') : undefined;
  if (resource !== undefined) {
    const audience = entra.audiences.byName(resource, call.tenant.id);
    return { resource: audience, openid: true, offline: true, text: `${resource}/.default` };
  }
  const scope = call.form.get('scope') ?? fallback;
  if (scope === undefined) throw aadsts.missing(call.version === 1 ? 'resource' : 'scope');
  return entra.audiences.byScope(scope, call.tenant.id);
}

async function clientCredentials(entra: Entra, call: TokenCall, client: ProvenClient): Promise<TokenAnswer> {
  if (client.proof === 'none') throw aadsts.credentialNeeded();
  const { resource, text } = asked(entra, call);
  if (resource.scopes.length !== 1 || resource.scopes[0] !== '.default') throw aadsts.scopeDefault(text);
  if (!client.principal) throw aadsts.principalMissing(client.appId, call.tenant.displayName);
  const issued = await entra.tokens.access({
    base: call.base,
    principal: client.principal,
    audience: resource,
    clientId: client.appId,
    proof: client.proof,
    ...(client.principal.resourceId === undefined ? {} : { lifeSeconds: managedIdentityLifeSeconds }),
  });
  return answer(call, issued, resource);
}

async function authorizationCode(entra: Entra, call: TokenCall, client: ProvenClient): Promise<TokenAnswer> {
  const code = required(call.form, 'code');
  const redirectUri = required(call.form, 'redirect_uri');
  const grant = await entra.grants.redeemCode(call.tenant.id, code);
  if (grant.clientId !== client.appId) throw aadsts.code();
  if (grant.redirectUri !== redirectUri) throw aadsts.replyAddress(redirectUri);
  if (!grant.publicClient && client.proof === 'none') throw aadsts.noCredential();
  if (grant.codeChallenge !== undefined) {
    const verifier = required(call.form, 'code_verifier');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    if (!sameText(challenge, grant.codeChallenge)) throw aadsts.codeVerifier();
  }
  const user = activeUser(entra, call.tenant, grant.userId);
  const { scope, nonce } = grant;
  const signedInAt = entra.clock.now();
  return answerForUser(entra, call, {
    user,
    client,
    scope,
    signedInAt,
    ...(nonce === undefined ? {} : { nonce }),
  });
}

async function refreshToken(entra: Entra, call: TokenCall, client: ProvenClient): Promise<TokenAnswer> {
  const grant = await entra.grants.refresh(call.tenant.id, required(call.form, 'refresh_token'));
  if (grant.clientId !== client.appId) throw aadsts.refreshToken();
  const user = activeUser(entra, call.tenant, grant.userId);
  if (grant.signedInAt < (user.sessionsValidFrom ?? 0)) throw aadsts.revoked();
  // A client that has a credential must show it here as well.
  if (client.proof === 'none' && (client.application?.passwordCredentials.length ?? 0) > 0 && !hasPublicSide(client)) {
    throw aadsts.noCredential();
  }
  return answerForUser(entra, call, { user, client, scope: grant.scope, signedInAt: grant.signedInAt });
}

function hasPublicSide(client: ProvenClient): boolean {
  const uris = client.application?.redirectUris;
  return isPublicClient(client) || (uris?.publicClient.length ?? 0) > 0 || (uris?.spa.length ?? 0) > 0;
}

async function passwordGrant(entra: Entra, call: TokenCall, client: ProvenClient): Promise<TokenAnswer> {
  if (client.proof === 'none' && !isPublicClient(client)) throw aadsts.noCredential();
  const [name, password] = [required(call.form, 'username'), required(call.form, 'password')];
  // Before the password is looked at, so that a wrong scope does not tell whether it was right.
  const { text } = asked(entra, call);
  const user = await signIn(entra, call.tenant, name, password);
  return answerForUser(entra, call, { user, client, scope: text, signedInAt: entra.clock.now() });
}

async function deviceCode(entra: Entra, call: TokenCall, client: ProvenClient): Promise<TokenAnswer> {
  const code = call.form.get('device_code') ?? required(call.form, 'code');
  const grant = await entra.grants.redeemDevice(call.tenant.id, code, client.appId);
  const user = activeUser(entra, call.tenant, grant.userId ?? '');
  const signedInAt = grant.signedInAt ?? entra.clock.now();
  return answerForUser(entra, call, { user, client, scope: grant.scope, signedInAt });
}

/** A service that was called by a user calls another one as that user. */
async function onBehalfOf(entra: Entra, call: TokenCall, client: ProvenClient): Promise<TokenAnswer> {
  if (client.proof === 'none') throw aadsts.noCredential();
  if (required(call.form, 'requested_token_use') !== 'on_behalf_of') throw aadsts.malformed();
  const assertion = required(call.form, 'assertion');
  const { text } = asked(entra, call);
  const names = [client.appId, `api://${client.appId}`, ...(client.application?.identifierUris ?? [])];
  const bearer = await entra.bearer.check(`Bearer ${assertion}`, names).catch((error: unknown) => {
    throw error instanceof BearerError ? aadsts.userAssertion(error.message) : error;
  });
  const user = activeUser(entra, call.tenant, bearer.objectId);
  return answerForUser(entra, call, { user, client, scope: text, signedInAt: entra.clock.now() });
}

function activeUser(entra: Entra, tenant: Tenant, id: string): User {
  const user = entra.objects.find('User', id);
  if (user?.tenantId !== tenant.id) throw aadsts.revoked();
  if (!user.accountEnabled) throw aadsts.userDisabled();
  return user;
}

async function answerForUser(entra: Entra, call: TokenCall, granted: Granted): Promise<TokenAnswer> {
  const { user, client, signedInAt } = granted;
  const { base } = call;
  const wanted = asked(entra, call, granted.scope);
  const clientId = client.appId;
  const issued = await entra.tokens.access({
    base,
    principal: user,
    audience: wanted.resource,
    clientId,
    proof: client.proof,
  });
  const first = entra.audiences.byScope(granted.scope, call.tenant.id);
  const { nonce } = granted;
  const idToken =
    wanted.openid || first.openid
      ? await entra.tokens.id({ base, user, clientId, ...(nonce === undefined ? {} : { nonce }) })
      : undefined;
  const refresh =
    wanted.offline || first.offline
      ? await entra.grants.newRefreshToken(call.tenant.id, {
          clientId,
          userId: user.id,
          scope: granted.scope,
          signedInAt,
        })
      : undefined;
  return {
    ...answer(call, issued, wanted.resource),
    scope: wanted.text
      .split(' ')
      .filter((scope) => scope !== 'offline_access')
      .join(' '),
    ...(refresh ? { refresh_token: refresh.reveal() } : {}),
    ...(idToken ? { id_token: idToken.reveal() } : {}),
    ...(call.form.get('client_info') === undefined ? {} : { client_info: clientInfo(user) }),
  };
}

function answer(
  call: TokenCall,
  issued: Awaited<ReturnType<Entra['tokens']['access']>>,
  resource: Audience,
): TokenAnswer {
  const access_token = issued.token.reveal();
  // As Azure has it, one second less than the token lives.
  const seconds = issued.expiresIn - 1;
  if (call.version === 2) {
    return { token_type: 'Bearer', expires_in: seconds, ext_expires_in: seconds, access_token };
  }
  return {
    token_type: 'Bearer',
    expires_in: String(seconds),
    ext_expires_in: String(seconds),
    expires_on: String(issued.expiresOn),
    not_before: String(issued.notBefore),
    resource: resource.aud,
    access_token,
  };
}

function clientInfo(user: User): string {
  return Buffer.from(JSON.stringify({ uid: user.id, utid: user.tenantId })).toString('base64url');
}
