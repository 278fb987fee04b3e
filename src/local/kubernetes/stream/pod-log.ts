// `kubectl logs`: the log of the service behind a container. A simulated container has written nothing.
import { flag, integer } from '../http/options.ts';
import type { ActionHandler } from '../http/routes.ts';
import { forbiddenField, invalidValue } from '../schema/field-errors.ts';
import { badRequest, type FieldError, invalid } from '../status.ts';
import { containerOf, findPod } from './pod.ts';
import type { LogLine, LogSource, PodBackends } from './pod-backends.ts';

interface LogOptions {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  /** Milliseconds since 1970. */
  readonly since: number | undefined;
}

const contentType = 'text/plain';
/** Lines that may wait for a client that follows; one that is slower loses the oldest of them. */
const waitingLimit = 10_000;

export function podLog(backends: PodBackends): ActionHandler {
  return (request) => {
    const { cluster, namespace, name, query } = request;
    const options = logOptions(query, name, cluster.now());
    const pod = findPod(request);
    const container = containerOf(pod, query.get('container') ?? '');
    const source = backends.find({ cluster: cluster.name, namespace, pod: name, container })?.logs();
    // Nobody has been asked to run a pod without a node, so there is no log, not even an empty one.
    if (!source) return pod.nodeName === '' ? { status: 204 } : { status: 200, body: '', contentType };
    if (options.previous && !source.lines(true)) {
      throw badRequest(`previous terminated container "${container}" in pod "${name}" not found`);
    }
    return { contentType, stream: (signal) => limited(chosen(source, options, signal), options) };
  };
}

function logOptions(query: URLSearchParams, name: string, now: number): LogOptions {
  const tailLines = integer(query, 'tailLines');
  const limitBytes = integer(query, 'limitBytes');
  const sinceSeconds = integer(query, 'sinceSeconds');
  const sinceText = query.get('sinceTime') || undefined;
  const sinceTime = sinceText === undefined ? undefined : Date.parse(sinceText);
  if (Number.isNaN(sinceTime)) {
    const quoted = JSON.stringify(sinceText);
    throw badRequest(`parsing time ${quoted} as "2006-01-02T15:04:05Z07:00": cannot parse ${quoted} as "2006"`);
  }
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0) {
    errors.push(invalidValue('tailLines', tailLines, 'must be greater than or equal to 0'));
  }
  if (limitBytes !== undefined && limitBytes < 1) {
    errors.push(invalidValue('limitBytes', limitBytes, 'must be greater than 0'));
  }
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    errors.push(forbiddenField('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) {
    errors.push(invalidValue('sinceSeconds', sinceSeconds, 'must be greater than 0'));
  }
  if (query.get('stream')) errors.push(forbiddenField('stream', 'may not be specified'));
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, name, errors);
  return {
    follow: flag(query, 'follow') ?? false,
    previous: flag(query, 'previous') ?? false,
    timestamps: flag(query, 'timestamps') ?? false,
    tailLines,
    limitBytes,
    since: sinceSeconds === undefined ? sinceTime : now - sinceSeconds * 1000,
  };
}

/** The lines asked for, some at a time. */
async function* chosen(source: LogSource, options: LogOptions, signal: AbortSignal): AsyncGenerator<LogLine[]> {
  const { tailLines, since = Number.NEGATIVE_INFINITY } = options;
  const recent = (source.lines(options.previous) ?? []).filter(({ time }) => time >= since);
  let waiting = tailLines === undefined ? recent : tailLines === 0 ? [] : recent.slice(-tailLines);
  // A run that is over writes no more.
  let ended = !options.follow || options.previous;
  let wake = (): void => {};
  const end = (): void => {
    ended = true;
    wake();
  };
  const stop = ended
    ? undefined
    : source.follow((line) => {
        waiting.push(line);
        if (waiting.length > waitingLimit * 2) waiting = waiting.slice(-waitingLimit);
        wake();
      }, end);
  signal.addEventListener('abort', end);
  try {
    for (;;) {
      const lines = waiting;
      waiting = [];
      if (lines.length > 0) yield lines;
      if (signal.aborted) return;
      if (waiting.length > 0) continue;
      if (ended) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    stop?.();
    signal.removeEventListener('abort', end);
  }
}

async function* limited(
  source: AsyncIterable<readonly LogLine[]>,
  { timestamps, limitBytes = Number.POSITIVE_INFINITY }: LogOptions,
): AsyncGenerator<Buffer> {
  let left = limitBytes;
  for await (const lines of source) {
    const texts = lines.map(({ time, text }) => `${timestamps ? `${new Date(time).toISOString()} ` : ''}${text}\n`);
    const bytes = Buffer.from(texts.join(''));
    yield bytes.subarray(0, Math.min(left, bytes.length));
    left -= bytes.length;
    if (left <= 0) return;
  }
}
