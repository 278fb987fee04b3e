// The data of spec events and status events. Reading them from bytes is in bundle-data.ts.

/** A Kubernetes object, whole. */
export type Manifest = Readonly<Record<string, unknown>>;

export interface ManifestBundle {
  readonly manifests: readonly Manifest[];
  readonly deleteOption?: DeleteOption;
  readonly manifestConfigs?: readonly ManifestConfig[];
  /** Spelt so on the wire; the ManifestWork's own field is `executor`. */
  readonly executer?: Executor;
}

export interface DeleteOption {
  readonly propagationPolicy?: 'Foreground' | 'Orphan' | 'SelectivelyOrphan' | (string & {});
  readonly selectivelyOrphans?: { readonly orphaningRules?: readonly ResourceIdentifier[] };
  readonly ttlSecondsAfterFinished?: number;
}

/** In a manifest config, names may hold `*`. */
export interface ResourceIdentifier {
  readonly group?: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name: string;
}

export interface ManifestConfig {
  readonly resourceIdentifier: ResourceIdentifier;
  readonly updateStrategy?: UpdateStrategy;
  readonly feedbackRules?: readonly FeedbackRule[];
  readonly conditionRules?: readonly ConditionRule[];
  readonly feedbackScrapeType?: 'Poll' | 'Watch' | (string & {});
}

export interface UpdateStrategy {
  readonly type?: 'Update' | 'CreateOnly' | 'ServerSideApply' | 'ReadOnly' | (string & {});
  readonly serverSideApply?: {
    readonly force?: boolean;
    readonly fieldManager?: string;
    readonly ignoreFields?: readonly IgnoreField[];
  };
}

export interface IgnoreField {
  readonly condition?: 'OnSpokeChange' | 'OnSpokePresent' | (string & {});
  readonly jsonPaths?: readonly string[];
  readonly jsonPointers?: readonly string[];
  readonly jqPathExpressions?: readonly string[];
}

export interface FeedbackRule {
  readonly type: 'WellKnownStatus' | 'JSONPaths' | (string & {});
  readonly jsonPaths?: readonly { readonly name: string; readonly path: string; readonly version?: string }[];
}

export interface ConditionRule {
  readonly condition: string;
  readonly type?: 'WellKnownConditions' | 'CEL' | (string & {});
  readonly celExpressions?: readonly string[];
  readonly message?: string;
  readonly messageExpression?: string;
}

export interface Executor {
  readonly subject: {
    readonly type: 'ServiceAccount' | (string & {});
    readonly serviceAccount?: { readonly namespace: string; readonly name: string };
  };
}

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown' | (string & {});
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

export interface ManifestBundleStatus {
  readonly conditions: readonly Condition[];
  readonly resourceStatus: readonly ManifestStatus[];
  /** Only from the server to a source. */
  readonly manifestBundle?: ManifestBundle;
}

export interface ManifestStatus {
  readonly resourceMeta: ResourceMeta;
  readonly statusFeedback: { readonly values?: readonly FeedbackValue[] };
  readonly conditions: readonly Condition[];
}

export interface ResourceMeta {
  /** The manifest's place in the bundle. */
  readonly ordinal: number;
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
  readonly resource?: string;
  readonly name?: string;
  readonly namespace?: string;
}

export interface FeedbackValue {
  readonly name: string;
  readonly fieldValue: FieldValue;
}

export type FieldValue =
  | { readonly type: 'Integer'; readonly integer: number }
  | { readonly type: 'String'; readonly string: string }
  | { readonly type: 'Boolean'; readonly boolean: boolean }
  | { readonly type: 'JsonRaw'; readonly jsonRaw: string };

/** The condition by which an agent says that a bundle's objects are gone. */
export const deletedCondition = { type: 'Deleted', reason: 'ManifestsDeleted' } as const;

/** Whether a status is an agent's last word on a bundle. */
export function saysDeleted(status: ManifestBundleStatus): boolean {
  return status.conditions.some(({ type, status }) => type === deletedCondition.type && status === 'True');
}
