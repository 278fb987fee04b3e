// Who may do what, as data: rules that each name an identity and what it may. No rule, no right.
import type { CertificateCaller } from '../../kit/caller.ts';

/** One rule of the configuration. Names may hold one `*`, which stands for any run of characters. */
export interface AccessRule {
  /** `cn:<common name>`, `dns:<name>`, `uri:<uri>` of a certificate, or `sub:<subject>` of a token. */
  readonly who: string;
  /** The sources as which it may publish and subscribe. */
  readonly sources?: readonly string[];
  /** The consumers that it may send bundles to, as a source; all unless given. */
  readonly consumers?: readonly string[];
  /** The consumers whose agent it is. `{*}` is what the `*` of `who` stood for. */
  readonly agentOf?: readonly string[];
  /** What it may do over REST. */
  readonly rest?: 'read' | 'write';
}

/** What is known of a caller. */
export type Identity =
  | { readonly kind: 'names'; readonly names: readonly string[] }
  /** By the plain listener of this machine, which is off unless asked for. */
  | { readonly kind: 'plain' };

export interface Access {
  mayBeSource(identity: Identity, source: string): boolean;
  maySendTo(identity: Identity, source: string, consumer: string): boolean;
  mayBeAgentOf(identity: Identity, consumer: string): boolean;
  mayRest(identity: Identity, wanted: 'read' | 'write'): boolean;
}

/** The names of a certificate's holder, as rules have them. */
export function certificateNames({ commonName, names }: CertificateCaller): readonly string[] {
  return [
    ...(commonName === '' ? [] : [`cn:${commonName}`]),
    ...names.dns.map((name) => `dns:${name}`),
    ...names.uri.map((name) => `uri:${name}`),
  ];
}

export function createAccess(rules: readonly AccessRule[]): Access {
  const compiled = rules.map((rule) => ({ rule, who: matcher(rule.who) }));

  /** Whether a rule for this identity grants it; `star` is what the rule's own wildcard stood for. */
  function granted(identity: Identity, grants: (rule: AccessRule, star: string) => boolean): boolean {
    if (identity.kind === 'plain') return true;
    return compiled.some(({ rule, who }) =>
      identity.names.some((name) => {
        const star = who(name);
        return star !== undefined && grants(rule, star);
      }),
    );
  }

  return {
    mayBeSource: (identity, source) => granted(identity, (rule) => matchesAny(rule.sources, source)),
    maySendTo: (identity, source, consumer) =>
      granted(
        identity,
        (rule) =>
          matchesAny(rule.sources, source) && (rule.consumers === undefined || matchesAny(rule.consumers, consumer)),
      ),
    mayBeAgentOf: (identity, consumer) =>
      granted(identity, (rule, star) => (rule.agentOf ?? []).some((pattern) => fits(pattern, star, consumer))),
    mayRest: (identity, wanted) =>
      granted(identity, ({ rest }) => rest === 'write' || (rest === 'read' && wanted === 'read')),
  };
}

/** What the pattern's `*` stands for in the name: empty where it has none; undefined where it does not fit. */
function matcher(pattern: string): (name: string) => string | undefined {
  const star = pattern.indexOf('*');
  if (star === -1) return (name) => (name === pattern ? '' : undefined);
  const [before, after] = [pattern.slice(0, star), pattern.slice(star + 1)];
  return (name) =>
    name.length >= before.length + after.length && name.startsWith(before) && name.endsWith(after)
      ? name.slice(before.length, name.length - after.length)
      : undefined;
}

function matchesAny(patterns: readonly string[] | undefined, name: string): boolean {
  return name !== '' && (patterns ?? []).some((pattern) => matcher(pattern)(name) !== undefined);
}

/** What stood for the `*` is a name, never a pattern of its own. */
function fits(pattern: string, star: string, consumer: string): boolean {
  if (consumer === '') return false;
  const at = pattern.indexOf('{*}');
  if (at === -1) return matcher(pattern)(consumer) !== undefined;
  return star !== '' && consumer === pattern.slice(0, at) + star + pattern.slice(at + 3);
}
