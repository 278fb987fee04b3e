// One line per request: who did what to what, and why it was allowed or not. At the level the server calls Metadata: no bodies.
import type { Logger } from '../../../kit/log.ts';
import type { AccessAnswer, AccessQuestion, User } from './user.ts';

export interface AuditEvent {
  readonly auditId: string;
  readonly cluster: string;
  readonly requestUri: string;
  readonly verb: string;
  /** Who sent the request; undefined when nobody was recognised. */
  readonly user: User | undefined;
  /** Whom it acted as, when that was another. */
  readonly impersonated?: User;
  readonly sourceIp: string;
  readonly userAgent?: string;
  readonly question?: AccessQuestion;
  readonly answer?: AccessAnswer;
  readonly code: number;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  readonly completedAt: number;
  /** Of admission: webhooks' and policies' annotations. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

export interface AuditLog {
  /** Takes note of a request that is answered. Never waits, never throws. */
  record(event: AuditEvent): void;
  /** Writes what has been noted and not yet written. */
  flush(): void;
}

const annotated = new WeakMap<object, Record<string, string>>();

/** Adds a note to the line of a request, which `request` stands for until it is answered. The first note of a key stays. */
export function annotateRequest(request: object, key: string, value: string): void {
  const notes = annotated.get(request) ?? {};
  if (!Object.hasOwn(notes, key)) notes[key] = value;
  annotated.set(request, notes);
}

/** What was noted about a request. */
export const annotationsOf = (request: object): Readonly<Record<string, string>> | undefined => annotated.get(request);

/** Events waiting to be written; beyond it they are counted instead, so that a flood cannot fill the memory. */
const mostWaiting = 4096;
/** Events written in one turn of the event loop, between which requests are served. */
const batch = 64;
const longestUri = 2048;

/** Lines are made and written between requests, not within them; events that were lost are counted in a line of their own. */
export function createAuditLog(logger: Logger): AuditLog {
  const waiting: AuditEvent[] = [];
  let lost = 0;
  let scheduled = false;

  function write(most: number): void {
    for (const event of waiting.splice(0, most)) logger.info({ audit: lineOf(event) }, 'audit');
    if (lost > 0 && waiting.length === 0) {
      logger.warn({ lost }, 'audit events were lost');
      lost = 0;
    }
  }

  function turn(): void {
    write(batch);
    if (waiting.length > 0) setImmediate(turn);
    else scheduled = false;
  }

  return {
    record(event) {
      if (waiting.length >= mostWaiting) {
        lost++;
        return;
      }
      waiting.push(event);
      if (scheduled) return;
      scheduled = true;
      setImmediate(turn);
    },
    flush() {
      write(Number.POSITIVE_INFINITY);
    },
  };
}

/** The event in the names of audit.k8s.io/v1. */
export function lineOf(event: AuditEvent): object {
  const { question, answer, user, impersonated, annotations } = event;
  const time = (at: number): string => new Date(at).toISOString();
  return {
    level: 'Metadata',
    stage: 'ResponseComplete',
    auditID: event.auditId,
    cluster: event.cluster,
    requestURI: event.requestUri.slice(0, longestUri),
    verb: event.verb,
    user: user ? subject(user) : {},
    ...(impersonated ? { impersonatedUser: subject(impersonated) } : {}),
    sourceIPs: [event.sourceIp],
    ...(event.userAgent === undefined ? {} : { userAgent: event.userAgent }),
    ...(question?.kind === 'resource' ? { objectRef: objectRef(question) } : {}),
    responseStatus: { code: event.code },
    requestReceivedTimestamp: time(event.receivedAt),
    stageTimestamp: time(event.completedAt),
    annotations: {
      ...annotations,
      ...(answer
        ? {
            'authorization.k8s.io/decision': answer.allowed ? 'allow' : 'forbid',
            'authorization.k8s.io/reason': answer.reason,
          }
        : {}),
    },
  };
}

const subject = ({ name, uid, groups }: User): object => ({
  username: name,
  ...(uid === undefined ? {} : { uid }),
  groups,
});

function objectRef({
  resource,
  namespace,
  name,
  group,
  version,
  subresource,
}: Extract<AccessQuestion, { kind: 'resource' }>): object {
  const fields = { resource, namespace, name, apiGroup: group, apiVersion: version, subresource };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}
