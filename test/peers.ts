// Finds the real programs that tests talk to. A peer that is not here skips its tests, unless REQUIRE names it.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'node:test';

interface Peer {
  /** Names a program, or the directory of its programs, that is not on PATH. */
  readonly variable: string;
  /** What it may be called on PATH. */
  readonly commands: readonly string[];
  /** For a directory: the programs that must be in it. */
  readonly contains?: readonly string[];
}

const peers = {
  mosquitto: { variable: 'MOSQUITTO_BIN', commands: ['mosquitto'] },
  kubectl: { variable: 'KUBECTL_BIN', commands: ['kubectl'] },
  jq: { variable: 'JQ_BIN', commands: ['jq'] },
  az: { variable: 'AZ_BIN', commands: ['az'] },
  chromium: { variable: 'CHROMIUM_BIN', commands: ['chromium', 'chromium-browser', 'google-chrome'] },
  openssl: { variable: 'OPENSSL_BIN', commands: ['openssl'] },
  curl: { variable: 'CURL_BIN', commands: ['curl'] },
  kube: { variable: 'KUBEBUILDER_ASSETS', commands: [], contains: ['kube-apiserver', 'etcd'] },
  maestro: { variable: 'MAESTRO_BIN', commands: ['maestro'] },
} as const satisfies Readonly<Record<string, Peer>>;

export type PeerName = keyof typeof peers;

type Environment = Readonly<Record<string, string | undefined>>;

/** Brokers and other servers are often installed where only root looks. */
const moreDirectories = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/** The peer's program (for `kube`, its directory), or why there is none. Throws when a variable names what is not there. */
export function findPeer(
  name: PeerName,
  env: Environment = process.env,
): { readonly path: string } | { readonly missing: string } {
  const peer: Peer = peers[name];
  const given = env[peer.variable];
  if (given !== undefined && given !== '') {
    const programs = peer.contains?.map((program) => join(given, program)) ?? [given];
    const absent = programs.find((program) => !isProgram(program));
    if (absent !== undefined) throw new Error(`${peer.variable} leads to ${absent}, which is not a program`);
    return { path: given };
  }
  const directories = [...(env.PATH ?? '').split(delimiter).filter((path) => path !== ''), ...moreDirectories];
  for (const command of peer.commands) {
    const path = directories.map((directory) => join(directory, command)).find(isProgram);
    if (path !== undefined) return { path };
  }
  const where = peer.commands.length > 0 ? ` and ${peer.commands.join(', ')} not on PATH` : '';
  return { missing: `${name} not found: ${peer.variable} not set${where}` };
}

/** The peers that REQUIRE names. Throws for a name that is none, so that a slip of the pen does not skip what it meant. */
export function requiredPeers(env: Environment = process.env): ReadonlySet<string> {
  const names = (env.REQUIRE ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  for (const name of names) {
    if (!Object.hasOwn(peers, name)) {
      throw new Error(`REQUIRE names ${JSON.stringify(name)}; known are ${Object.keys(peers).join(', ')}`);
    }
  }
  return new Set(names);
}

/**
 * The path of a peer that a test needs. Without the peer the test is marked as skipped and undefined returned – return from
 * the test then – or it fails, when REQUIRE names the peer.
 */
export function needs(t: TestContext, name: PeerName, env: Environment = process.env): string | undefined {
  const required = requiredPeers(env).has(name);
  const found = findPeer(name, env);
  if ('path' in found) return found.path;
  if (required) throw new Error(`${found.missing}, and REQUIRE names it`);
  t.skip(found.missing);
  return undefined;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
