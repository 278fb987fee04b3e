// Whether a principal may do something, asked of Azure's decision point before a customer's resources are touched.
import type { Credential } from './credential.ts';
import type { AzureEnvironment } from './environment.ts';
import { errorOfAnswer } from './errors.ts';
import { armRetry, type Sleep, withRetry } from './retry.ts';
import { createWire } from './wire.ts';

export interface AccessQuestion {
  /** Of the user or service principal. */
  readonly objectId: string;
  /** Groups beside those that the directory knows it is in. */
  readonly groups?: readonly string[];
  /** Id of the resource or scope. */
  readonly resourceId: string;
  readonly actions: readonly string[];
  /** Whether the actions are on data, such as reading a secret. */
  readonly dataActions?: boolean;
}

export interface AccessDecision {
  readonly action: string;
  /** `NotAllowed`: no role allows it. `Denied`: a deny assignment forbids it. */
  readonly decision: 'Allowed' | 'NotAllowed' | 'Denied';
}

export interface AccessChecker {
  /** One decision for each action, in their order. */
  check(question: AccessQuestion, signal?: AbortSignal): Promise<readonly AccessDecision[]>;
}

const apiVersion = '2021-06-01-preview';

/** Asks the decision point of a location. */
export function createAccessChecker(options: {
  readonly environment: AzureEnvironment;
  readonly credential: Credential;
  readonly location: string;
  readonly sleep?: Sleep;
}): AccessChecker {
  const { environment, credential, location } = options;
  const { suffix, audience } = environment.authorization;
  const wire = createWire({
    environment,
    credential,
    service: { endpoint: `https://${location}.${suffix}`, audience },
  });
  return {
    async check({ objectId, groups, resourceId, actions, dataActions = false }, signal) {
      const body = {
        Subject: { Attributes: { ObjectId: objectId, ...(groups === undefined ? {} : { Groups: groups }) } },
        Actions: actions.map((Id) => ({ Id, IsDataAction: dataActions, Attributes: {} })),
        Resource: { Id: resourceId, Attributes: {} },
      };
      const answer = await withRetry(
        async () => {
          const given = await wire.send({
            method: 'POST',
            path: `/providers/Microsoft.Authorization/checkAccess?api-version=${apiVersion}`,
            body,
            ...(signal === undefined ? {} : { signal }),
          });
          if (given.status >= 400) throw errorOfAnswer(given, 'the check of access');
          return given;
        },
        {
          rules: armRetry,
          // It asks; nothing is changed.
          idempotent: true,
          ...(options.sleep === undefined ? {} : { sleep: options.sleep }),
          ...(signal === undefined ? {} : { signal }),
        },
      );
      const { value = [] } = answer.body as { readonly value?: readonly WireDecision[] };
      const given = new Map(value.map((one) => [one.actionId.toLowerCase(), one.accessDecision]));
      return actions.map((action) => ({ action, decision: given.get(action.toLowerCase()) ?? 'NotAllowed' }));
    },
  };
}

interface WireDecision {
  readonly actionId: string;
  readonly accessDecision: AccessDecision['decision'];
}
