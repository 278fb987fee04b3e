// A CustomResourceDefinition as the decoder leaves it.
import type { KubeObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';

export interface DefinitionNames {
  plural: string;
  singular?: string;
  shortNames?: string[];
  kind: string;
  listKind?: string;
  categories?: string[];
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

export interface DefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: Schema };
  readonly subresources?: { readonly status?: object; readonly scale?: ScalePaths };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

export interface WebhookService {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string;
  port?: number;
}

export interface ConversionWebhook {
  readonly clientConfig?: { readonly url?: string; readonly service?: WebhookService; readonly caBundle?: string };
  readonly conversionReviewVersions?: readonly string[];
}

export interface DefinitionSpec {
  readonly group: string;
  readonly names: DefinitionNames;
  readonly scope: 'Cluster' | 'Namespaced';
  readonly versions: readonly DefinitionVersion[];
  conversion?: { strategy: string; webhook?: ConversionWebhook };
  readonly preserveUnknownFields?: boolean;
}

export interface DefinitionCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly lastTransitionTime?: string;
  readonly reason: string;
  readonly message: string;
}

export interface DefinitionStatus {
  conditions: DefinitionCondition[] | null;
  acceptedNames: DefinitionNames;
  storedVersions: string[] | null;
}

export interface Definition extends KubeObject {
  spec: DefinitionSpec;
  status?: DefinitionStatus;
}

export const definitionGroup = 'apiextensions.k8s.io';
export const definitionStorage = `${definitionGroup}/customresourcedefinitions`;
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

export const conditionOf = (definition: Pick<Definition, 'status'>, type: string): DefinitionCondition | undefined =>
  definition.status?.conditions?.find((condition) => condition.type === type);

export const isTrue = (definition: Pick<Definition, 'status'>, type: string): boolean =>
  conditionOf(definition, type)?.status === 'True';

/** The conditions with one of them replaced or added; its time changes when its status does. */
export function withCondition(
  conditions: readonly DefinitionCondition[],
  condition: Omit<DefinitionCondition, 'lastTransitionTime'>,
  now: string,
): DefinitionCondition[] {
  const { type, status, reason, message } = condition;
  const made = (time: string): DefinitionCondition => ({ type, status, lastTransitionTime: time, reason, message });
  const old = conditions.find((candidate) => candidate.type === type);
  if (!old) return [...conditions, made(now)];
  const time = old.status === status ? (old.lastTransitionTime ?? now) : now;
  return conditions.map((candidate) => (candidate === old ? made(time) : candidate));
}
