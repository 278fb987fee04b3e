// Where an answer may be sent. An address that the application did not register gets nothing, not even an error.
import type { Client } from './clients.ts';

export interface AllowedRedirect {
  readonly uri: string;
  /** A native or single-page application: proves the code by its verifier instead of a credential. */
  readonly publicClient: boolean;
}

const nativeClient = '/common/oauth2/nativeclient';
const maxLength = 2048;

export function allowedRedirect(client: Client, given: string): AllowedRedirect | undefined {
  if (given.length > maxLength || !URL.canParse(given)) return undefined;
  const url = new URL(given);
  if (url.hash !== '' || url.username !== '' || url.password !== '' || /[\s\\]/.test(given)) return undefined;
  const uris = client.application?.redirectUris;
  if (uris?.web.some((uri) => fits(uri, given, url))) return { uri: given, publicClient: false };
  if ([...(uris?.spa ?? []), ...(uris?.publicClient ?? [])].some((uri) => fits(uri, given, url))) {
    return { uri: given, publicClient: true };
  }
  if (client.firstParty?.publicClient && (isLoopback(url) || (url.pathname === nativeClient && isAuthority(url)))) {
    return { uri: given, publicClient: true };
  }
  return undefined;
}

/** A program on the same machine takes whichever port is free, so the port of a loopback address does not count. */
function fits(registered: string, given: string, url: URL): boolean {
  if (registered === given) return true;
  if (!URL.canParse(registered)) return false;
  const known = new URL(registered);
  return (
    isLoopback(known) &&
    isLoopback(url) &&
    known.hostname === url.hostname &&
    known.pathname === url.pathname &&
    known.search === url.search
  );
}

function isLoopback(url: URL): boolean {
  return url.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
}

function isAuthority(url: URL): boolean {
  return url.protocol === 'https:' && url.hostname === 'login.microsoftonline.com';
}
