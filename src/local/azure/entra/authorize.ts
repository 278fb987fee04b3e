// The authorization endpoint: a person signs in on a page of ours, and the application gets a code.
import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { isBody } from '../../../arm/check-body.ts';
import { Type } from '../../../arm/type.ts';
import { aadsts, EntraError, entraErrorBody } from './aadsts.ts';
import { browserOf, fromOwnPage, knownBrowser } from './browser.ts';
import { findClient } from './clients.ts';
import { baseOf, type Entra, tenantOf } from './context.ts';
import { type Form, required } from './form.ts';
import { escapeHtml, message, sendPage, signInForm } from './pages.ts';
import { allowedRedirect } from './redirect-uris.ts';
import { signIn } from './sign-in.ts';

/** What the page carries; sealed, so that what was checked stays as it was. */
const flowSchema = Type.Object({
  tenantId: Type.String(),
  clientId: Type.String(),
  clientName: Type.String(),
  redirectUri: Type.String(),
  publicClient: Type.Boolean(),
  responseMode: Type.Union([Type.Literal('query'), Type.Literal('fragment'), Type.Literal('form_post')]),
  scope: Type.String(),
  state: Type.Optional(Type.String()),
  nonce: Type.Optional(Type.String()),
  codeChallenge: Type.Optional(Type.String()),
});

type Flow = Static<typeof flowSchema>;
type ResponseMode = Flow['responseMode'];

const purpose = 'sign-in';
const challengeForm = /^[A-Za-z0-9_-]{43}$/;
const modes: readonly string[] = ['query', 'fragment', 'form_post'] satisfies ResponseMode[];
const stateMaxLength = 4096;

/** Shows the sign-in page, or why not. What is wrong with the client or its address is shown here; the rest is told to the client. */
export async function authorize(
  entra: Entra,
  request: FastifyRequest,
  reply: FastifyReply,
  segment: string,
  version: 1 | 2,
  form: Form,
): Promise<FastifyReply> {
  const tenant = tenantOf(entra, segment);
  const client = findClient(entra, tenant, form.get('client_id'));
  const given = required(form, 'redirect_uri');
  const redirect = allowedRedirect(client, given);
  if (!redirect) throw aadsts.redirectUri(given, client.appId);
  const [state, nonce, codeChallenge] = ['state', 'nonce', 'code_challenge'].map((name) => form.get(name));
  if ((state?.length ?? 0) > stateMaxLength || (nonce?.length ?? 0) > stateMaxLength) throw aadsts.malformed();
  const mode = form.get('response_mode') ?? 'query';
  const back = {
    redirectUri: redirect.uri,
    responseMode: (modes.includes(mode) ? mode : 'query') as ResponseMode,
    ...(state === undefined ? {} : { state }),
  };
  let flow: Flow;
  try {
    if (!modes.includes(mode)) throw aadsts.responseMode(mode);
    const responseType = required(form, 'response_type');
    if (responseType !== 'code') throw aadsts.responseType(responseType);
    const scope = scopeOf(form, version);
    entra.audiences.byScope(scope, tenant.id);
    if (form.get('prompt') === 'none') throw aadsts.interaction();
    checkChallenge(form, redirect.publicClient);
    flow = {
      tenantId: tenant.id,
      clientId: client.appId,
      clientName: client.displayName,
      publicClient: redirect.publicClient,
      scope,
      ...back,
      ...(nonce === undefined ? {} : { nonce }),
      ...(codeChallenge === undefined ? {} : { codeChallenge }),
    };
  } catch (error) {
    if (!(error instanceof EntraError)) throw error;
    return sendBack(reply, back, errorParameters(entra, request, error));
  }
  return showSignIn(entra, request, reply, flow, { name: form.get('login_hint') ?? '' });
}

/** Takes the name and password of the sign-in page. */
export async function finishSignIn(
  entra: Entra,
  request: FastifyRequest,
  reply: FastifyReply,
  form: Form,
): Promise<FastifyReply> {
  const flow = entra.pages.open(purpose, knownBrowser(request) ?? '', form.get('flow') ?? '');
  if (!fromOwnPage(entra, request) || !isBody(flowSchema, flow)) {
    return sendPage(reply, {
      title: 'Start again',
      status: 400,
      main: message(
        'This sign-in has expired or was started in another browser. Go back to the application and start again.',
      ),
    });
  }
  const tenant = tenantOf(entra, flow.tenantId);
  const name = form.get('username') ?? '';
  try {
    const user = await signIn(entra, tenant, name, form.get('password') ?? '');
    const { clientId, redirectUri, scope, publicClient, codeChallenge, nonce } = flow;
    const code = await entra.grants.newCode(tenant.id, {
      clientId,
      userId: user.id,
      redirectUri,
      scope,
      publicClient,
      ...(codeChallenge === undefined ? {} : { codeChallenge }),
      ...(nonce === undefined ? {} : { nonce }),
    });
    return sendBack(reply, flow, { code: code.reveal(), session_state: randomUUID() });
  } catch (error) {
    if (!(error instanceof EntraError)) throw error;
    return showSignIn(entra, request, reply, flow, { name, problem: error.message, status: error.status });
  }
}

function scopeOf(form: Form, version: 1 | 2): string {
  const resource = version === 1 ? form.get('resource') : undefined;
  if (resource !== undefined) return `${resource}/.default openid profile offline_access`;
  return form.get('scope') ?? (version === 1 ? 'openid profile offline_access' : required(form, 'scope'));
}

function checkChallenge(form: Form, needed: boolean): void {
  const challenge = form.get('code_challenge');
  if (challenge === undefined && !needed) return;
  if (challenge === undefined || form.get('code_challenge_method') !== 'S256' || !challengeForm.test(challenge)) {
    throw aadsts.codeChallenge();
  }
}

function showSignIn(
  entra: Entra,
  request: FastifyRequest,
  reply: FastifyReply,
  flow: Flow,
  shown: { readonly name: string; readonly problem?: string; readonly status?: number },
): FastifyReply {
  const sealed = entra.pages.seal(purpose, browserOf(request, reply), flow);
  return sendPage(reply, {
    title: 'Sign in',
    status: shown.status ?? 200,
    formTargets: [new URL(flow.redirectUri).origin],
    main: signInForm({
      action: `/${flow.tenantId}/login`,
      flow: sealed,
      application: flow.clientName,
      ...shown,
    }),
  });
}

function errorParameters(entra: Entra, request: FastifyRequest, error: EntraError): Readonly<Record<string, string>> {
  const place = {
    base: baseOf(entra, request.host),
    traceId: randomUUID(),
    correlationId: randomUUID(),
    now: entra.clock.now(),
  };
  const { error: word, error_description, error_uri } = entraErrorBody(error, place);
  return { error: word, error_description, error_uri };
}

/** Sends the browser to the application in the way that it asked for. */
function sendBack(
  reply: FastifyReply,
  flow: Pick<Flow, 'redirectUri' | 'responseMode' | 'state'>,
  answer: Readonly<Record<string, string>>,
): FastifyReply {
  const parameters = { ...answer, ...(flow.state === undefined ? {} : { state: flow.state }) };
  if (flow.responseMode === 'form_post') return sendForm(reply, flow.redirectUri, parameters);
  const url = new URL(flow.redirectUri);
  const encoded = new URLSearchParams(parameters).toString();
  if (flow.responseMode === 'fragment') url.hash = encoded;
  else url.search = url.search === '' ? encoded : `${url.search}&${encoded}`;
  return reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer').redirect(url.href, 303);
}

function sendForm(reply: FastifyReply, action: string, parameters: Readonly<Record<string, string>>): FastifyReply {
  const fields = Object.entries(parameters)
    .map(([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`)
    .join('');
  return sendPage(reply, {
    title: 'Signed in',
    formTargets: [new URL(action).origin],
    main: `<form method="post" action="${escapeHtml(action)}">${fields}<button class="first" type="submit">Continue</button></form>`,
    script: 'document.forms[0].submit();',
  });
}
