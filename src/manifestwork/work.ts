// ManifestWork and AppliedManifestWork (work.open-cluster-management.io/v1): what the engine reads and writes of them.
import type { Condition } from '../kube/conditions.ts';
import type { KubeObject } from '../kube/object.ts';
import { resource } from '../kube/resource.ts';

/** An object to be applied. Nothing is known of it before it is read by manifest.ts. */
export type Manifest = Readonly<Record<string, unknown>>;

export interface ResourceIdentifier {
  readonly group?: string;
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

export interface DeleteOption {
  readonly propagationPolicy?: string;
  readonly selectivelyOrphans?: { readonly orphaningRules?: readonly ResourceIdentifier[] };
  readonly ttlSecondsAfterFinished?: number;
}

export interface IgnoreField {
  readonly condition?: string;
  readonly jsonPaths?: readonly string[];
  readonly jsonPointers?: readonly string[];
  readonly jqPathExpressions?: readonly string[];
}

export interface ServerSideApplyConfig {
  readonly force?: boolean;
  readonly fieldManager?: string;
  readonly ignoreFields?: readonly IgnoreField[];
}

export interface UpdateStrategy {
  readonly type?: string;
  readonly serverSideApply?: ServerSideApplyConfig;
}

export interface JsonPathRule {
  readonly name?: string;
  readonly path?: string;
  readonly version?: string;
}

export interface FeedbackRule {
  readonly type?: string;
  readonly jsonPaths?: readonly JsonPathRule[];
}

export interface ConditionRule {
  readonly condition?: string;
  readonly type?: string;
  readonly celExpressions?: readonly string[];
  readonly message?: string;
  readonly messageExpression?: string;
}

/** How one manifest, or those that match, are applied and reported on. Names may hold `*`. */
export interface ManifestConfig {
  readonly resourceIdentifier?: ResourceIdentifier;
  readonly updateStrategy?: UpdateStrategy;
  readonly feedbackRules?: readonly FeedbackRule[];
  readonly conditionRules?: readonly ConditionRule[];
  readonly feedbackScrapeType?: string;
}

export interface Executor {
  readonly subject?: {
    readonly type?: string;
    readonly serviceAccount?: { readonly namespace?: string; readonly name?: string };
  };
}

export interface ManifestWorkSpec {
  readonly workload?: { readonly manifests?: readonly Manifest[] };
  readonly deleteOption?: DeleteOption;
  readonly manifestConfigs?: readonly ManifestConfig[];
  readonly executor?: Executor;
}

export interface ResourceMeta {
  /** The manifest's place in the spec. */
  readonly ordinal: number;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly resource: string;
  readonly name: string;
  readonly namespace: string;
}

export type FieldValue =
  | { readonly type: 'Integer'; readonly integer: number }
  | { readonly type: 'String'; readonly string: string }
  | { readonly type: 'Boolean'; readonly boolean: boolean }
  | { readonly type: 'JsonRaw'; readonly jsonRaw: string };

export interface FeedbackValue {
  readonly name: string;
  readonly fieldValue: FieldValue;
}

export interface ManifestStatus {
  readonly resourceMeta: ResourceMeta;
  readonly statusFeedback: { readonly values?: readonly FeedbackValue[] };
  readonly conditions: readonly Condition[];
}

export interface ManifestWorkStatus {
  readonly conditions?: readonly Condition[];
  readonly resourceStatus?: { readonly manifests?: readonly ManifestStatus[] };
}

export interface ManifestWork extends KubeObject {
  spec?: ManifestWorkSpec;
  status?: ManifestWorkStatus;
}

/** An object that a work has applied. Without a uid, one that it was about to apply. */
export interface AppliedResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface AppliedManifestWork extends KubeObject {
  spec?: { readonly hubHash?: string; readonly agentID?: string; readonly manifestWorkName?: string };
  status?: { readonly appliedResources?: readonly Partial<AppliedResource>[]; readonly evictionStartTime?: string };
}

const apiVersion = 'work.open-cluster-management.io/v1';

export const manifestWorks = resource<ManifestWork>(apiVersion, 'ManifestWork', 'manifestworks');
export const appliedManifestWorks = resource<AppliedManifestWork>(
  apiVersion,
  'AppliedManifestWork',
  'appliedmanifestworks',
  'Cluster',
);

/** Keeps a work until its objects are gone. */
export const workFinalizer = 'cluster.open-cluster-management.io/manifest-work-cleanup';
/** Keeps an AppliedManifestWork until its objects are gone. */
export const appliedFinalizer = 'cluster.open-cluster-management.io/applied-manifest-work-cleanup';

/** The condition of a work, or of a manifest, that has run to its end and is not applied again. */
export const completeCondition = 'Complete';
