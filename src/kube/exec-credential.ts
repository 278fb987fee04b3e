// Credentials from an exec plugin, by the client.authentication.k8s.io protocol.
import { spawn } from 'node:child_process';
import { isAbsolute, resolve } from 'node:path';
import { Secret } from '../kit/secret.ts';
import { AccessError, type Credential, type CredentialSource } from './cluster-access.ts';

export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly installHint?: string;
  /** `Always` cannot be served: there is no terminal. */
  readonly interactiveMode?: string;
  readonly provideClusterInfo?: boolean;
}

export interface ExecOptions {
  /** A command with a slash is taken relative to this: the directory of the kubeconfig file. */
  readonly directory: string;
  /** What the plugin is told of the cluster when it asks for that. */
  readonly cluster: Readonly<Record<string, unknown>>;
  /** For messages. */
  readonly origin: string;
  /** A plugin that takes longer is ended; 60 unless given. */
  readonly timeoutSeconds?: number;
  /** Epoch milliseconds, for tests. */
  readonly now?: () => number;
}

const versions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
const defaultTimeoutSeconds = 60;
const longestOutput = 1024 * 1024;
const longestComplaint = 1000;
/** A credential is renewed this long before it ends, so that no request carries one that ends on its way. */
const earlyMs = 10_000;

/**
 * Runs the plugin when a credential is first needed, keeps what it gave until that expires or the server refuses it, and runs
 * it once for all that wait at the same time.
 */
export function execCredentials(plugin: ExecPlugin, options: ExecOptions): CredentialSource {
  if (!versions.includes(plugin.apiVersion)) {
    throw new AccessError(
      `${options.origin}: exec plugin ${plugin.command} speaks ${plugin.apiVersion || 'no apiVersion'}; known are ${versions.join(' and ')}`,
    );
  }
  if (plugin.interactiveMode === 'Always') {
    throw new AccessError(`${options.origin}: exec plugin ${plugin.command} needs a terminal, and there is none here`);
  }
  const now = options.now ?? Date.now;
  let kept: { readonly credential: Credential; readonly until: number } | undefined;
  let running: Promise<Credential> | undefined;

  return {
    async current() {
      if (kept && now() < kept.until) return kept.credential;
      running ??= run(plugin, options)
        .then(({ credential, expires }) => {
          kept = { credential, until: expires === undefined ? Number.POSITIVE_INFINITY : expires - earlyMs };
          return credential;
        })
        .finally(() => {
          running = undefined;
        });
      return running;
    },
    refused(credential) {
      if (kept?.credential === credential) kept = undefined;
    },
  };
}

interface Given {
  readonly credential: Credential;
  readonly expires: number | undefined;
}

async function run(plugin: ExecPlugin, options: ExecOptions): Promise<Given> {
  const name = `${options.origin}: exec plugin ${plugin.command}`;
  const info = {
    apiVersion: plugin.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(plugin.provideClusterInfo ? { cluster: options.cluster } : {}) },
  };
  const env: Record<string, string | undefined> = { ...process.env };
  for (const { name: variable, value } of plugin.env ?? []) env[variable] = value;
  env.KUBERNETES_EXEC_INFO = JSON.stringify(info);
  const inDirectory = plugin.command.includes('/') && !isAbsolute(plugin.command);
  const command = inDirectory ? resolve(options.directory, plugin.command) : plugin.command;
  const output = await outputOf(command, plugin, env, options.timeoutSeconds ?? defaultTimeoutSeconds, name);
  return read(output, plugin.apiVersion, name);
}

function outputOf(
  command: string,
  plugin: ExecPlugin,
  env: Record<string, string | undefined>,
  timeoutSeconds: number,
  name: string,
): Promise<string> {
  return new Promise((done, fail) => {
    // A group of its own, so that what the plugin started ends with it.
    const child = spawn(command, plugin.args ?? [], { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let output = '';
    let complaint = '';
    let problem: AccessError | undefined;
    const end = (why: string): void => {
      problem ??= new AccessError(`${name} ${why}`);
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has just ended by itself.
      }
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const timer = setTimeout(() => end(`gave no credential within ${timeoutSeconds} s`), timeoutSeconds * 1000);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.length > longestOutput) end(`wrote more than ${longestOutput} characters`);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (complaint.length < longestComplaint) complaint += text;
    });
    child.once('error', (cause: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      const hint = cause.code === 'ENOENT' && plugin.installHint ? `\n${plugin.installHint.trim()}` : '';
      const why = cause.code === 'ENOENT' ? 'is not installed' : `cannot be run (${cause.code ?? cause.message})`;
      fail(new AccessError(`${name} ${why}${hint}`, { cause }));
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (problem) return fail(problem);
      if (code === 0) return done(output);
      const said = complaint.trim().slice(0, longestComplaint);
      fail(new AccessError(`${name} failed (${signal ?? `exit code ${code}`})${said ? `: ${said}` : ''}`));
    });
  });
}

/** What a plugin writes; anything of it may be missing. */
interface ExecCredential {
  readonly kind?: unknown;
  readonly apiVersion?: unknown;
  readonly status?: {
    readonly token?: unknown;
    readonly clientCertificateData?: unknown;
    readonly clientKeyData?: unknown;
    readonly expirationTimestamp?: unknown;
  };
}

function read(output: string, apiVersion: string, name: string): Given {
  let answer: ExecCredential;
  try {
    answer = (JSON.parse(output) ?? {}) as ExecCredential;
  } catch {
    // The parser's message may quote the output, which holds the credential.
    throw new AccessError(`${name} did not write JSON`);
  }
  if (answer.kind !== 'ExecCredential' || answer.apiVersion !== apiVersion) {
    throw new AccessError(
      `${name} was asked for an ExecCredential of ${apiVersion} and gave ${String(answer.kind)} of ${String(answer.apiVersion)}`,
    );
  }
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = answer.status ?? {};
  if ((clientCertificateData === undefined) !== (clientKeyData === undefined)) {
    throw new AccessError(`${name} gave one of certificate and key, but not the other`);
  }
  const credential: Credential = {
    ...(typeof token === 'string' && token ? { token: new Secret(token) } : {}),
    ...(typeof clientCertificateData === 'string' && typeof clientKeyData === 'string'
      ? { certificate: { certificate: clientCertificateData, key: new Secret(clientKeyData) } }
      : {}),
  };
  if (!credential.token && !credential.certificate) throw new AccessError(`${name} gave neither token nor certificate`);
  if (expirationTimestamp === undefined || expirationTimestamp === null) return { credential, expires: undefined };
  const expires = typeof expirationTimestamp === 'string' ? Date.parse(expirationTimestamp) : Number.NaN;
  if (Number.isNaN(expires)) throw new AccessError(`${name} gave an expirationTimestamp that is no time`);
  return { credential, expires };
}
