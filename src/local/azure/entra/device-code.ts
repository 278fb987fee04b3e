// Signing in on another device: a program shows a code, a person types it on a page of ours and signs in.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { isBody } from '../../../arm/check-body.ts';
import { Type } from '../../../arm/type.ts';
import { aadsts, EntraError } from './aadsts.ts';
import { browserOf, fromOwnPage, knownBrowser } from './browser.ts';
import { findClient, isPublicClient } from './clients.ts';
import { type Entra, tenantOf } from './context.ts';
import { type Form, required } from './form.ts';
import { escapeHtml, message, sendPage, signInForm } from './pages.ts';
import { signIn } from './sign-in.ts';

export const devicePage = '/common/oauth2/deviceauth';

/** Seconds between two questions of a program that waits. */
const intervalSeconds = 5;
const purpose = 'device';
const flowSchema = Type.Object({ tenantId: Type.String(), userCode: Type.String(), clientName: Type.String() });
type Flow = Static<typeof flowSchema>;
/** All visitors together: wrong codes are not anybody's in particular. */
const anyone = 'anyone';

/** Answers a program that wants a code. */
export async function startDeviceCode(entra: Entra, base: string, segment: string, version: 1 | 2, form: Form) {
  const tenant = tenantOf(entra, segment);
  const client = findClient(entra, tenant, form.get('client_id'));
  if (!isPublicClient(client)) throw aadsts.noCredential();
  const resource = version === 1 ? form.get('resource') : undefined;
  const scope = resource === undefined ? required(form, 'scope') : `${resource}/.default openid profile offline_access`;
  entra.audiences.byScope(scope, tenant.id);
  if (!entra.deviceStarts.take()) throw aadsts.busy();
  const made = await entra.grants.newDeviceCode(tenant.id, {
    clientId: client.appId,
    clientName: client.displayName,
    scope,
  });
  const address = `${base}${devicePage}`;
  const times = version === 1 ? [String(made.expiresIn), String(intervalSeconds)] : [made.expiresIn, intervalSeconds];
  return {
    user_code: made.userCode,
    device_code: made.deviceCode.reveal(),
    [version === 1 ? 'verification_url' : 'verification_uri']: address,
    expires_in: times[0],
    interval: times[1],
    message: `To sign in, use a web browser to open the page ${address} and enter the code ${made.userCode} to authenticate.`,
  };
}

/** The page that asks for the code. */
export function showCodePage(reply: FastifyReply, typed: string, problem?: string): FastifyReply {
  const alert = problem === undefined ? '' : `<p class="error" id="problem" role="alert">${escapeHtml(problem)}</p>`;
  const described = problem === undefined ? '' : ' aria-describedby="problem" aria-invalid="true"';
  return sendPage(reply, {
    title: 'Enter code',
    status: problem === undefined ? 200 : 400,
    main:
      `<p>Enter the code that the program or device shows.</p>${alert}` +
      `<form method="post" action="${devicePage}"><label for="code">Code</label>` +
      `<input id="code" name="user_code" required maxlength="32" autocomplete="off" autocapitalize="characters" spellcheck="false"` +
      ` value="${escapeHtml(typed)}" autofocus${described}><button class="first" type="submit">Next</button></form>`,
  });
}

/** Takes the code, then the name and password, of the page's two forms. */
export async function submitDevicePage(
  entra: Entra,
  request: FastifyRequest,
  reply: FastifyReply,
  form: Form,
): Promise<FastifyReply> {
  if (!fromOwnPage(entra, request)) return startAgain(reply);
  if (form.get('flow') === undefined) {
    const typed = (form.get('user_code') ?? '').slice(0, 32);
    if (entra.userCodes.isLocked(anyone)) return showCodePage(reply, typed, 'Too many wrong codes. Wait a minute.');
    const found = await pendingIn(entra, typed);
    if (!found) {
      entra.userCodes.wrong(anyone);
      return showCodePage(reply, typed, 'That code did not work. Check the code and try again, or ask for a new one.');
    }
    return showSignIn(entra, request, reply, found, {});
  }
  const flow = entra.pages.open(purpose, knownBrowser(request) ?? '', form.get('flow') ?? '');
  if (!isBody(flowSchema, flow)) return startAgain(reply);
  const tenant = tenantOf(entra, flow.tenantId);
  if (form.get('decision') === 'decline') {
    await entra.grants.decideDevice(tenant.id, flow.userCode, undefined);
    return sendPage(reply, { title: 'Refused', main: message('Nobody was signed in. You can close this page.') });
  }
  const name = form.get('username') ?? '';
  try {
    const user = await signIn(entra, tenant, name, form.get('password') ?? '');
    if (!(await entra.grants.decideDevice(tenant.id, flow.userCode, user.id))) return startAgain(reply);
  } catch (error) {
    if (!(error instanceof EntraError)) throw error;
    return showSignIn(entra, request, reply, flow, { name, problem: error.message, status: error.status });
  }
  return sendPage(reply, {
    title: 'Signed in',
    main: message(`You have signed in to ${flow.clientName}. You can close this page.`),
  });
}

/** A person types only the code, which may be of any tenant. */
async function pendingIn(entra: Entra, typed: string): Promise<Flow | undefined> {
  for (const { id: tenantId } of entra.tenants) {
    const grant = await entra.grants.pendingDevice(tenantId, typed);
    if (grant) return { tenantId, userCode: grant.userCode, clientName: grant.clientName };
  }
  return undefined;
}

function showSignIn(
  entra: Entra,
  request: FastifyRequest,
  reply: FastifyReply,
  flow: Flow,
  shown: { readonly name?: string; readonly problem?: string; readonly status?: number },
): FastifyReply {
  return sendPage(reply, {
    title: 'Sign in on another device',
    status: shown.status ?? 200,
    main:
      message('Go on only if you started this yourself: who holds the code will be signed in as you.') +
      signInForm({
        action: devicePage,
        flow: entra.pages.seal(purpose, browserOf(request, reply), flow),
        application: flow.clientName,
        decline: true,
        ...shown,
      }),
  });
}

function startAgain(reply: FastifyReply): FastifyReply {
  return sendPage(reply, {
    title: 'Start again',
    status: 400,
    main: message('This code has expired, was used, or was entered in another browser. Start again with a new one.'),
  });
}
