// `aro deploy` as people see it: what is under way line by line, what would change, what went wrong.
import { createArmClient } from '../azure/arm-client.ts';
import { createCredential, credentialConfigFrom } from '../azure/credential.ts';
import type { DeploymentStep } from '../azure/deployments.ts';
import { environmentFrom } from '../azure/environment.ts';
import { type PlanOptions, type PlanStep, readPlan, type ScopeName, scopeNames } from './deploy-plan.ts';
import { applyPlan, type DeployTarget, forecastPlan, type StepForecast } from './deploy-run.ts';
import { UsageError } from './errors.ts';

export interface DeployOptions {
  readonly scope: string;
  readonly location: string;
  readonly environment: string;
  readonly stamp: string;
  readonly subscription?: readonly string[];
  readonly whatIf?: boolean;
}

/** Applies a scope, or tells what applying it would change, to the Azure that the environment variables name. */
export async function runDeploy(options: DeployOptions, write: (line: string) => void): Promise<void> {
  const { scope, location, environment: name, stamp } = options;
  if (!isScope(scope)) throw new UsageError(`the scope is one of ${scopeNames.join(', ')}, not ${scope}`);
  const plan = await readPlan({
    scope,
    location: location.toLowerCase().replaceAll(' ', ''),
    environment: name,
    stamp,
    subscriptions: subscriptionsOf(scope, options.subscription ?? []),
  });
  const environment = await environmentFrom(process.env);
  const credential = createCredential(environment, credentialConfigFrom(process.env));
  const arm = createArmClient({
    environment,
    credential,
    userAgent: 'aro-deploy',
    onRetry: (call, error, waitMs) =>
      write(`  again in ${Math.ceil(waitMs / 1000)} s: ${call}: ${error.code}: ${error.message}`),
  });
  const stop = new AbortController();
  const onSignal = (): void =>
    stop.abort(new Error('stopped; what Azure has begun goes on there, and the same command takes it up again'));
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  try {
    const target: DeployTarget = { arm, environment, credential, signal: stop.signal };
    write(`${options.whatIf ? 'What would change' : 'Applying'} at ${environment.resourceManager.endpoint}`);
    if (options.whatIf) for (const line of forecastLines(await forecastPlan(plan, target))) write(line);
    else await applyTelling(plan, target, write);
  } finally {
    process.removeListener('SIGINT', onSignal);
    process.removeListener('SIGTERM', onSignal);
  }
}

async function applyTelling(
  plan: Awaited<ReturnType<typeof readPlan>>,
  target: DeployTarget,
  write: (line: string) => void,
): Promise<void> {
  const begun = performance.now();
  let at = begun;
  await applyPlan(plan, target, {
    onRegister: (namespace, subscriptionId) => write(`registering ${namespace} in ${subscriptionId}`),
    onStart(step) {
      at = performance.now();
      write(`${labelOf(step)}`);
    },
    onResource: (_step, resource) => write(resourceLine(resource)),
    onDone: (step) => write(`${labelOf(step)} done in ${secondsSince(at)} s`),
  });
  write(`All ${plan.steps.length} deployments are applied, in ${secondsSince(begun)} s.`);
}

function isScope(text: string): text is ScopeName {
  return (scopeNames as readonly string[]).includes(text);
}

/** `<id>` is the subscription of the scope itself, `<scope>=<id>` of another. */
export function subscriptionsOf(scope: ScopeName, given: readonly string[]): PlanOptions['subscriptions'] {
  const made: { [name in ScopeName]?: string } = {};
  for (const text of given) {
    const [name, id] = text.includes('=') ? text.split('=', 2) : [scope, text];
    if (!isScope(name ?? '') || !id) throw new UsageError(`--subscription ${text} must be <id> or <scope>=<id>`);
    made[name as ScopeName] = id;
  }
  return made;
}

function labelOf({ scope, name }: PlanStep): string {
  return `${scope}/${name}`;
}

function secondsSince(begun: number): string {
  return ((performance.now() - begun) / 1000).toFixed(1);
}

function resourceLine({ id, type, state, error }: DeploymentStep): string {
  const why = error === undefined ? '' : `: ${error.code}: ${error.message}`;
  return `  ${state.padEnd(9)} ${type} ${shortName(id)}${why}`;
}

/** The names in an id behind its last provider. */
function shortName(id: string): string {
  const parts = id.split('/');
  const at = parts.findLastIndex((part) => part.toLowerCase() === 'providers');
  if (at === -1) return parts.at(-1) ?? id;
  return parts.filter((_, index) => index > at + 1 && (index - at) % 2 === 1).join('/');
}

const marks: { readonly [change: string]: string } = {
  Create: '+',
  Deploy: '+',
  Modify: '~',
  Delete: '-',
  NoChange: '=',
};

export function forecastLines(forecasts: readonly StepForecast[]): readonly string[] {
  const lines: string[] = [];
  const counts = new Map<string, number>();
  for (const { step, changes } of forecasts) {
    lines.push(labelOf(step));
    if (changes === undefined) {
      const { length } = step.template.resources;
      lines.push(`  + all of it (${length} ${length === 1 ? 'entry' : 'entries'}): what it is for is not there yet`);
      counts.set('new templates', (counts.get('new templates') ?? 0) + 1);
      continue;
    }
    for (const { id, change, members } of changes) {
      const what = members.length === 0 ? '' : ` (${members.join(', ')})`;
      lines.push(`  ${marks[change] ?? '?'} ${id}${what}`);
      counts.set(change, (counts.get(change) ?? 0) + 1);
    }
  }
  lines.push([...counts].map(([change, count]) => `${change}: ${count}`).join(', ') || 'Nothing to do.');
  return lines;
}
