// What goes on with a running pod: its log, its ports, and commands in it.
import type { ActionHandler } from '../http/routes.ts';
import { badRequest } from '../status.ts';
import { containerOf, findPod, requireNode } from './pod.ts';
import type { PodBackends } from './pod-backends.ts';
import { podLog } from './pod-log.ts';
import { portForward } from './port-forward.ts';

/** Pods are simulated, or stand for a service that runs outside of any container. */
const withoutProcess =
  (what: string): ActionHandler =>
  (request) => {
    const pod = findPod(request);
    containerOf(pod, request.query.get('container') ?? '');
    requireNode(pod);
    throw badRequest(`cannot ${what} pod ${pod.name}: pods of this cluster are simulated and run no processes`);
  };

/** Handlers by `group/plural/subresource`. */
export const streamActions = (backends: PodBackends): ReadonlyMap<string, ActionHandler> =>
  new Map<string, ActionHandler>([
    ['/pods/log', podLog(backends)],
    ['/pods/portforward', portForward(backends)],
    ['/pods/exec', withoutProcess('execute a command in')],
    ['/pods/attach', withoutProcess('attach to')],
  ]);
