// Ties a form to the browser that was given it: a cookie with a random value, which the form's sealed field is bound to.
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { baseOf, type Entra } from './context.ts';

/** The prefix makes browsers take it over TLS only, from this host only. */
const cookieName = '__Host-entra-browser';
const valueForm = /^[A-Za-z0-9_-]{43}$/;

/** The browser's value, given to it now when it has none. */
export function browserOf(request: FastifyRequest, reply: FastifyReply): string {
  const known = knownBrowser(request);
  if (known !== undefined) return known;
  const value = randomBytes(32).toString('base64url');
  // Lax: the page is reached from other sites, while their forms cannot bring the cookie along.
  reply.header('set-cookie', `${cookieName}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax`);
  return value;
}

export function knownBrowser(request: FastifyRequest): string | undefined {
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [name, value = ''] = part.trim().split('=', 2);
    if (name === cookieName && valueForm.test(value)) return value;
  }
  return undefined;
}

/** Whether a form was sent by a page of this site, as far as the browser tells. */
export function fromOwnPage(entra: Entra, request: FastifyRequest): boolean {
  const { origin } = request.headers;
  const site = request.headers['sec-fetch-site'];
  const same = origin === undefined || origin === baseOf(entra, request.host);
  return same && (site === undefined || site === 'same-origin' || site === 'none');
}
