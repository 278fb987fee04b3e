// Who sent a request, as far as the listener it came in by can tell. Routes read it as `request.caller`.
import type { X509Certificate } from 'node:crypto';
import type {} from 'fastify';
import { matchesName, type NamePattern } from '../pki/names.ts';

/** Known by a client certificate that the listener's authorities have signed. */
export interface CertificateCaller {
  readonly kind: 'certificate';
  /** Empty when the certificate has none, or more than one. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly names: CertificateCallerNames;
  /** SHA-256, in upper case hexadecimal with colons. */
  readonly fingerprint: string;
  /** The one name to call it by: what the allow list matched, else its URI, DNS or common name, in this order. */
  readonly identity: string;
}

/** The alternative names of a certificate, DNS names in lower case. */
export interface CertificateCallerNames {
  readonly dns: readonly string[];
  readonly uri: readonly string[];
}

/** Came over TLS, or to a health listener, without a certificate. */
export interface AnonymousCaller {
  readonly kind: 'anonymous';
}

/** Came by the plain listener of this machine: nothing it says about itself is to be believed. */
export interface PlainCaller {
  readonly kind: 'plain';
}

export type Caller = CertificateCaller | AnonymousCaller | PlainCaller;

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sent the request; anonymous for requests that no listener of ours took in, such as injected ones. */
    readonly caller: Caller;
  }
}

/** One line of an allow list: which of a certificate's names it looks at, and what that has to be. */
export type IdentityRule = { readonly of: 'commonName' | 'dns' | 'uri' } & NamePattern;

/** What listeners use of a fastify app, so that an app of any logger and type provider fits. */
export interface App {
  ready(): PromiseLike<unknown>;
  routing(request: never, response: never): void;
  hasRequestDecorator(name: string): boolean;
  decorateRequest(name: 'caller', value: { getter(this: { readonly raw: object }): Caller }): unknown;
}

const callerOfRequest: unique symbol = Symbol('caller');

interface Marked {
  [callerOfRequest]?: Caller;
}

const anonymous: AnonymousCaller = { kind: 'anonymous' };

/** Marks a raw request with its caller. For listeners only. */
export function setCaller(raw: object, caller: Caller): void {
  (raw as Marked)[callerOfRequest] = caller;
}

export function callerOf(raw: object): Caller {
  return (raw as Marked)[callerOfRequest] ?? anonymous;
}

/** Gives an app's requests their `caller`. Listeners do it for an app that is not yet ready; doing it twice is fine. */
export function decorateCaller(app: App): void {
  if (app.hasRequestDecorator('caller')) return;
  app.decorateRequest('caller', {
    getter() {
      return callerOf(this.raw);
    },
  });
}

/** What a certificate says about its holder. It must have been verified. */
export function certificateCaller(certificate: X509Certificate): CertificateCaller {
  // The types promise texts that are not there when a certificate has no subject or no alternative names.
  const subject: Readonly<Record<string, string | string[] | undefined>> = {
    ...(certificate.toLegacyObject().subject as object | undefined),
  };
  const commonName = typeof subject.CN === 'string' ? subject.CN : '';
  const names = alternativeNames(certificate.subjectAltName ?? '');
  return {
    kind: 'certificate',
    commonName,
    organizations: [subject.O ?? []].flat(),
    names,
    fingerprint: certificate.fingerprint256,
    identity: names.uri[0] ?? names.dns[0] ?? commonName,
  };
}

/** The caller named by the first rule that one of its names matches, or undefined when none does. */
export function admit(caller: CertificateCaller, rules: readonly IdentityRule[]): CertificateCaller | undefined {
  for (const rule of rules) {
    const names = rule.of === 'commonName' ? [caller.commonName] : caller.names[rule.of];
    const identity = names.find((name) => name !== '' && matchesName(rule, name));
    if (identity !== undefined) return { ...caller, identity };
  }
  return undefined;
}

/** A name, bare or – when it holds characters that could be taken for notation – as a JSON string. */
const alternativeForm = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,"]*)(?:, |$)/gy;

function alternativeNames(text: string): CertificateCallerNames {
  const dns: string[] = [];
  const uri: string[] = [];
  for (const [, type, raw = ''] of text.matchAll(alternativeForm)) {
    const name = raw.startsWith('"') ? unquoted(raw) : raw;
    if (name === undefined) break;
    if (type === 'DNS') dns.push(name.toLowerCase());
    if (type === 'URI') uri.push(name);
  }
  return { dns, uri };
}

function unquoted(text: string): string | undefined {
  try {
    return String(JSON.parse(text));
  } catch {
    return undefined;
  }
}
