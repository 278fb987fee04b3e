// The errors of the token and sign-in endpoints: OAuth's code for programs, Entra's number for people to look up.
import { quotable } from '../../../arm/query.ts';

/** An error whose number and words are meant for the client. */
export class EntraError extends Error {
  readonly number: number;
  /** OAuth's word for it. */
  readonly error: string;
  readonly status: number;

  constructor(number: number, error: string, status: number, message: string) {
    super(message);
    this.name = 'EntraError';
    this.number = number;
    this.error = error;
    this.status = status;
  }
}

/** The OAuth error document with Entra's members. */
export interface EntraErrorBody {
  readonly error: string;
  readonly error_description: string;
  readonly error_codes: readonly number[];
  readonly timestamp: string;
  readonly trace_id: string;
  readonly correlation_id: string;
  readonly error_uri: string;
}

export function entraErrorBody(
  error: EntraError,
  place: { readonly base: string; readonly traceId: string; readonly correlationId: string; readonly now: number },
): EntraErrorBody {
  const timestamp = `${new Date(place.now).toISOString().slice(0, 19).replace('T', ' ')}Z`;
  return {
    error: error.error,
    error_description: `AADSTS${error.number}: ${error.message} Trace ID: ${place.traceId} Correlation ID: ${place.correlationId} Timestamp: ${timestamp}`,
    error_codes: [error.number],
    timestamp,
    trace_id: place.traceId,
    correlation_id: place.correlationId,
    error_uri: `${place.base}/error?code=${error.number}`,
  };
}

const row =
  (number: number, error: string, status: number, words: (...values: string[]) => string) =>
  (...values: string[]): EntraError =>
    new EntraError(number, error, status, words(...values.map((value) => quotable(value, 200))));

/** By what happened; the arguments are quoted in the message. */
export const aadsts = {
  malformed: row(9002313, 'invalid_request', 400, () => 'Invalid request. Request is malformed or invalid.'),
  notForm: row(
    900561,
    'invalid_request',
    400,
    () => 'The endpoint only accepts POST requests with a form body (application/x-www-form-urlencoded).',
  ),
  missing: row(
    900144,
    'invalid_request',
    400,
    (name = '') => `The request body must contain the following parameter: '${name}'.`,
  ),
  grantType: row(
    70003,
    'unsupported_grant_type',
    400,
    (type = '') => `The app requested an unsupported grant type '${type}'.`,
  ),
  responseType: row(
    700054,
    'unsupported_response_type',
    400,
    (type = '') => `response_type '${type}' is not enabled for the application.`,
  ),
  responseMode: row(
    900144,
    'invalid_request',
    400,
    (mode = '') => `response_mode '${mode}' is not one of query, fragment and form_post.`,
  ),
  tenant: row(
    90002,
    'invalid_request',
    400,
    (tenant = '') =>
      `Tenant '${tenant}' not found. Check to make sure you have the correct tenant ID and are signing into the correct cloud. Check with your subscription administrator, this may happen if there are no active subscriptions for the tenant.`,
  ),
  tenantForm: row(
    900023,
    'invalid_request',
    400,
    (tenant = '') =>
      `Specified tenant identifier '${tenant}' is neither a valid DNS name, nor a valid external domain.`,
  ),
  application: row(
    700016,
    'unauthorized_client',
    400,
    (appId = '', tenant = '') =>
      `Application with identifier '${appId}' was not found in the directory '${tenant}'. This can happen if the application has not been installed by the administrator of the tenant or consented to by any user in the tenant. You may have sent your authentication request to the wrong tenant.`,
  ),
  applicationDisabled: row(7000112, 'unauthorized_client', 400, (appId = '') => `Application '${appId}' is disabled.`),
  principalMissing: row(
    7000229,
    'unauthorized_client',
    400,
    (appId = '', tenant = '') =>
      `The client application '${appId}' is missing service principal in the tenant '${tenant}'.`,
  ),
  secret: row(
    7000215,
    'invalid_client',
    401,
    (appId = '') =>
      `Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app '${appId}'.`,
  ),
  secretExpired: row(
    7000222,
    'invalid_client',
    401,
    (appId = '') => `The provided client secret keys for app '${appId}' are expired.`,
  ),
  noCredential: row(
    7000218,
    'invalid_client',
    401,
    () => "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.",
  ),
  credentialNeeded: row(
    7000216,
    'invalid_client',
    401,
    () => "'client_assertion', 'client_secret' or 'request' is required for the 'client_credentials' grant type.",
  ),
  assertionType: row(
    900144,
    'invalid_request',
    400,
    () => "client_assertion_type must be 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'.",
  ),
  jwt: row(50027, 'invalid_request', 400, () => 'JWT token is invalid or malformed.'),
  assertionSignature: row(
    700027,
    'invalid_client',
    401,
    (reason = '') => `Client assertion failed signature validation. [Reason - ${reason}]`,
  ),
  assertionClient: row(
    700021,
    'invalid_client',
    401,
    () => "Client assertion application identifier doesn't match 'client_id' parameter.",
  ),
  assertionAudience: row(
    700023,
    'invalid_client',
    401,
    () => 'Client assertion audience claim does not match Realm issuer.',
  ),
  assertionTime: row(
    700024,
    'invalid_client',
    401,
    () => 'Client assertion is not within its valid time range. Check the clock of the client.',
  ),
  userAssertion: row(50013, 'invalid_grant', 400, (reason = '') => `Assertion failed validation. [Reason - ${reason}]`),
  federatedIssuer: row(
    700211,
    'invalid_client',
    401,
    (issuer = '') =>
      `No matching federated identity record found for presented assertion issuer '${issuer}'. Check your federated identity credential Subject, Audience and Issuer against the presented assertion.`,
  ),
  federatedSubject: row(
    700213,
    'invalid_client',
    401,
    (subject = '') =>
      `No matching federated identity record found for presented assertion subject '${subject}'. Check your federated identity credential Subject, Audience and Issuer against the presented assertion.`,
  ),
  federatedAudience: row(
    700212,
    'invalid_client',
    401,
    (audience = '') =>
      `No matching federated identity record found for presented assertion audience '${audience}'. Check your federated identity credential Subject, Audience and Issuer against the presented assertion.`,
  ),
  federatedEndpoint: row(
    50166,
    'invalid_request',
    400,
    (reason = '') => `Request to External OIDC endpoint failed. ${reason}`,
  ),
  scope: row(
    70011,
    'invalid_scope',
    400,
    (scope = '') => `The provided request must include a 'scope' input parameter. The scope '${scope}' is not valid.`,
  ),
  scopeDefault: row(
    1002012,
    'invalid_scope',
    400,
    (scope = '') =>
      `The provided value for scope ${scope} is not valid. Client credential flows must have a scope value with /.default suffixed to the resource identifier (application ID URI).`,
  ),
  scopeResources: row(
    28000,
    'invalid_scope',
    400,
    (scope = '') =>
      `Provided value for the input parameter scope is not valid because it contains more than one resource. Scope ${scope} is not valid.`,
  ),
  resource: row(
    500011,
    'invalid_resource',
    400,
    (resource = '', tenant = '') =>
      `The resource principal named ${resource} was not found in the tenant named ${tenant}. This can happen if the application has not been installed by the administrator of the tenant or consented to by any user in the tenant. You might have sent your authentication request to the wrong tenant.`,
  ),
  password: row(50126, 'invalid_grant', 400, () => 'Error validating credentials due to invalid username or password.'),
  locked: row(
    50053,
    'invalid_grant',
    400,
    () =>
      'The account is locked, you have tried to sign in too many times with an incorrect user ID or password. Wait a minute and try again.',
  ),
  busy: row(
    90055,
    'temporarily_unavailable',
    429,
    () => 'The request was throttled because of too many requests. Wait a moment and try again.',
  ),
  userDisabled: row(50057, 'invalid_grant', 400, () => 'The user account is disabled.'),
  code: row(
    70000,
    'invalid_grant',
    400,
    () => "The provided value for the 'code' parameter is not valid, or was made for another application.",
  ),
  codeExpired: row(
    70008,
    'invalid_grant',
    400,
    () =>
      'The provided authorization code or refresh token has expired due to inactivity. Send a new interactive authorization request for this user and resource.',
  ),
  codeRedeemed: row(
    54005,
    'invalid_grant',
    400,
    () =>
      'OAuth2 Authorization code was already redeemed, please retry with a new valid code or use an existing refresh token.',
  ),
  codeVerifier: row(
    501481,
    'invalid_grant',
    400,
    () => 'The Code_Verifier does not match the code_challenge supplied in the authorization request.',
  ),
  codeChallenge: row(
    501491,
    'invalid_request',
    400,
    () => 'The code challenge is not valid: 43 characters of base64url with code_challenge_method S256.',
  ),
  replyAddress: row(
    500112,
    'invalid_client',
    400,
    (given = '') =>
      `The reply address '${given}' does not match the reply address provided when requesting Authorization code.`,
  ),
  redirectUri: row(
    50011,
    'invalid_request',
    400,
    (given = '', appId = '') =>
      `The redirect URI '${given}' specified in the request does not match the redirect URIs configured for the application '${appId}'.`,
  ),
  refreshToken: row(
    9002313,
    'invalid_grant',
    400,
    () => 'The refresh token is not one that was issued here, or was issued to another application.',
  ),
  refreshTokenExpired: row(
    700082,
    'invalid_grant',
    400,
    () => 'The refresh token has expired due to inactivity. Sign in again.',
  ),
  revoked: row(
    50173,
    'invalid_grant',
    400,
    () => 'The provided grant has expired due to it being revoked, a fresh auth token is needed.',
  ),
  pending: row(
    70016,
    'authorization_pending',
    400,
    () => 'OAuth 2.0 device flow error. Authorization is pending. Continue polling.',
  ),
  declined: row(65004, 'authorization_declined', 400, () => 'User declined to consent to access the app.'),
  deviceCodeExpired: row(70020, 'expired_token', 400, () => 'The provided device code has expired. Ask for a new one.'),
  deviceCode: row(
    70018,
    'bad_verification_code',
    400,
    () => 'The device code is not one that was issued here, was used, or was issued to another application.',
  ),
  interaction: row(
    50058,
    'login_required',
    400,
    () => 'Session information is not sufficient for single-sign-on: the user must sign in.',
  ),
  instance: row(50049, 'invalid_instance', 400, (host = '') => `Unknown or invalid instance '${host}'.`),
} as const;
