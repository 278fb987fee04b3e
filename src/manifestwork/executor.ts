// Whether the identity that a work names may do what the work asks for.
import type { KubeClient } from '../kube/client.ts';
import { isAlreadyExists, isForbidden } from '../kube/kube-error.ts';
import type { KubeObject, UntypedObject } from '../kube/object.ts';
import { type ResourceRef, resource, resourcePath } from '../kube/resource.ts';
import type { Executor, ResourceMeta } from './work.ts';

/** The executor may not. Looked at again after a while: its rights may change. */
export class NotAllowedError extends Error {
  constructor(message: string) {
    super(`${message}, will try again in ${againSeconds} s`);
    this.name = 'NotAllowedError';
  }
}

/** After a refusal, and how long an answer is good for. */
export const againSeconds = 60;
const remembered = 5000;
const nameForm = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

interface Review extends KubeObject {
  spec: unknown;
  status?: { readonly allowed?: boolean };
}

const reviews = resource<Review>('authorization.k8s.io/v1', 'SubjectAccessReview', 'subjectaccessreviews', 'Cluster');
const rbac = 'rbac.authorization.k8s.io';
const grants: ReadonlySet<string> = new Set(['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings']);

export interface ExecutorCheck {
  readonly executor: Executor | undefined;
  readonly ref: ResourceRef;
  readonly meta: ResourceMeta;
  /** Whether the object will also be deleted for the executor. */
  readonly owned: boolean;
  readonly object: UntypedObject;
  /** Nothing is written: only reading needs to be allowed. */
  readonly readOnly: boolean;
}

export interface ExecutorRights {
  /**
   * Returns when the work's executor may apply the object, or when it names none: then it is done with the rights of this program.
   * Throws NotAllowedError, or Error for an executor that is none.
   */
  check(check: ExecutorCheck, signal: AbortSignal): Promise<void>;
}

/** Answers are remembered for a minute, so that a work that is looked at often does not ask each time. */
export function createExecutorRights(client: KubeClient, now: () => number = () => performance.now()): ExecutorRights {
  const allowed = new Map<string, number>();

  async function reviewed(user: string, namespace: string, meta: ResourceMeta, verb: string, signal: AbortSignal) {
    const { group, version, resource: plural, name } = meta;
    const answer = await client.create(
      reviews,
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        metadata: {},
        spec: {
          user,
          groups: groupsOf(namespace),
          resourceAttributes: { group, version, resource: plural, namespace: meta.namespace, name, verb },
        },
      },
      { signal },
    );
    return answer.status?.allowed === true;
  }

  /** Reviews do not know that a role may not grant more than its author has; the server does, when it is asked to act. */
  async function mayGrant(user: string, check: ExecutorCheck, signal: AbortSignal): Promise<boolean> {
    const { ref, meta, object } = check;
    try {
      await client.raw({
        method: 'POST',
        path: `${resourcePath(ref, ref.namespaced ? { namespace: meta.namespace } : {})}?dryRun=All`,
        // The server knows the groups of a service account by itself.
        headers: { 'content-type': 'application/json', 'impersonate-user': user },
        body: JSON.stringify(object),
        signal,
      });
      return true;
    } catch (error) {
      if (isAlreadyExists(error)) return true;
      if (isForbidden(error)) return false;
      throw error;
    }
  }

  return {
    async check(check, signal) {
      const { executor, meta, owned } = check;
      if (executor?.subject === undefined) return;
      const { type, serviceAccount } = executor.subject;
      if (type !== 'ServiceAccount') throw new Error('only support ServiceAccount type for the executor');
      const { namespace, name } = serviceAccount ?? {};
      if (!namespace || !name) throw new Error('the executor service account is nil');
      if (!nameForm.test(namespace) || !nameForm.test(name)) throw new Error('the executor service account cannot be');
      const user = `system:serviceaccount:${namespace}:${name}`;
      const verbs = check.readOnly ? ['get'] : ['create', 'update', 'patch', 'get', ...(owned ? ['delete'] : [])];
      const grant = !check.readOnly && meta.group === rbac && grants.has(meta.resource);
      const key = JSON.stringify([user, verbs.length, meta.group, meta.resource, meta.namespace, meta.name]);
      const time = now();
      // What is granted depends on the object's contents, so that is asked each time.
      if (!grant && (allowed.get(key) ?? 0) > time) return;
      const refused = (why: string): NotAllowedError =>
        new NotAllowedError(
          `not allowed to apply the resource ${meta.group} ${meta.resource}, ${meta.namespace} ${meta.name}${why}`,
        );
      for (const verb of verbs) {
        if (!(await reviewed(user, namespace, meta, verb, signal))) throw refused('');
      }
      if (grant && !(await mayGrant(user, check, signal))) throw refused(', error: permission escalation');
      if (allowed.size >= remembered) allowed.clear();
      allowed.set(key, time + againSeconds * 1000);
    },
  };
}

function groupsOf(namespace: string): readonly string[] {
  return ['system:authenticated', `system:serviceaccounts:${namespace}`, 'system:serviceaccounts'];
}
