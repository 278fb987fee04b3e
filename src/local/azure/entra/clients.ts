// Applications as clients of the sign-in service: which one asks, and whether it is the one it says.
import { Secret } from '../../../kit/secret.ts';
import { aadsts } from './aadsts.ts';
import { checkFederatedAssertion, checkOwnAssertion, readAssertion } from './client-assertion.ts';
import type { Entra } from './context.ts';
import type { Application, ServicePrincipal, Tenant } from './directory-objects.ts';
import { type FirstParty, firstParty } from './first-party.ts';
import type { Form } from './form.ts';
import { isSecret } from './passwords.ts';
import type { ClientProof } from './tokens.ts';

export interface Client {
  readonly appId: string;
  readonly displayName: string;
  /** Its principal in the tenant; a person may sign in to an application that has none yet. */
  readonly principal: ServicePrincipal | undefined;
  readonly application: Application | undefined;
  readonly firstParty: FirstParty | undefined;
}

export interface ProvenClient extends Client {
  readonly proof: ClientProof;
}

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Throws 900144, 700016, 7000112. */
export function findClient(entra: Entra, tenant: Tenant, clientId: string | undefined): Client {
  if (clientId === undefined || clientId === '') throw aadsts.missing('client_id');
  const application = entra.objects.application(clientId);
  const principal = entra.objects.servicePrincipal(tenant.id, clientId);
  const party = firstParty(clientId);
  const appId = principal?.appId ?? application?.appId;
  if (appId === undefined || (!principal && application?.tenantId !== tenant.id)) {
    throw aadsts.application(clientId, tenant.displayName);
  }
  if (principal?.accountEnabled === false) throw aadsts.applicationDisabled(appId);
  const displayName = application?.displayName ?? principal?.displayName ?? appId;
  return { appId, displayName, principal, application, firstParty: party };
}

/** Whether it may ask for a person's tokens without a credential of its own. */
export function isPublicClient(client: Client): boolean {
  return client.firstParty?.publicClient === true || client.application?.isFallbackPublicClient === true;
}

/** The client that a token request is from, with what it proved. One that sends no credential has proved nothing. */
export async function proveClient(
  entra: Entra,
  tenant: Tenant,
  form: Form,
  /** What a certificate's assertion may be for. */
  audiences: readonly string[],
): Promise<ProvenClient> {
  const assertionText = form.get('client_assertion');
  const assertion = assertionText === undefined ? undefined : await readAssertion(assertionText);
  const client = findClient(entra, tenant, form.get('client_id') ?? assertion?.claims.sub);
  if (assertion) {
    if (form.get('client_assertion_type') !== assertionType) throw aadsts.assertionType();
    const now = Date.now();
    if (assertion.claims.iss?.toLowerCase() === client.appId) {
      const keys = client.application?.keyCredentials ?? [];
      await checkOwnAssertion(assertion, client.appId, keys, audiences, now);
      return { ...client, proof: 'certificate' };
    }
    await checkFederatedAssertion(assertion, await trustOf(entra, client), entra.issuerKeys, now);
    return { ...client, proof: 'federated' };
  }
  const secret = form.get('client_secret');
  if (secret === undefined) return { ...client, proof: 'none' };
  checkSecret(client, new Secret(secret), entra.clock.now());
  return { ...client, proof: 'secret' };
}

async function trustOf(entra: Entra, client: Client) {
  const resourceId = client.principal?.resourceId;
  return resourceId === undefined
    ? (client.application?.federatedIdentityCredentials ?? [])
    : entra.federatedCredentialsOf(resourceId);
}

function checkSecret(client: Client, given: Secret<string>, now: number): void {
  const credentials = client.application?.passwordCredentials ?? [];
  const right = credentials.filter((one) => isSecret(one.hash, given));
  if (right.length === 0) throw aadsts.secret(client.appId);
  const valid = right.some((one) => Date.parse(one.startDateTime) <= now && now < Date.parse(one.endDateTime));
  if (!valid) throw aadsts.secretExpired(client.appId);
}
