// Long YAML is read on a thread of its own, one text at a time: reading it takes seconds in which nobody else would be answered.
import { Worker } from 'node:worker_threads';
import type { JsonValue } from '../object.ts';
import type { ParsedJson } from '../schema/json-text.ts';
import { StatusError, tooLarge } from '../status.ts';
import { YamlTextError } from './yaml.ts';

export type WorkerAnswer =
  | { readonly json: string; readonly duplicates: readonly string[] }
  | { readonly refused: string };

/** What a thread may use for one text, several times what the longest body takes. */
const memoryMb = 1024;
const longestSeconds = 60;
/** So many texts of one tenant may wait; one that sends more is asked to come back. */
const mostWaiting = 4;

interface Waiting {
  readonly tenant: string;
  readonly start: () => void;
}

const waiting: Waiting[] = [];
let running: string | undefined;

/** Lets the next begin: one of another tenant, if there is any, so that many texts of one hold nobody else up for long. */
function next(last: string): void {
  const other = waiting.findIndex(({ tenant }) => tenant !== last);
  const [chosen] = waiting.splice(Math.max(other, 0), 1);
  running = chosen?.tenant;
  chosen?.start();
}

const tooMuch = (): StatusError =>
  tooLarge(
    'Request entity too large: its YAML takes more time or memory to read than one request may; JSON takes less',
  );

function readOnThread(text: string): Promise<WorkerAnswer> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./yaml.worker.ts', import.meta.url), {
      workerData: text,
      name: 'yaml',
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
      // The parent's debugging and test flags are not for this thread.
      execArgv: [],
    });
    const late = setTimeout(() => void worker.terminate(), longestSeconds * 1000);
    worker.once('message', resolve);
    worker.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch() : error);
    });
    // Says nothing more where there was an answer.
    worker.once('exit', () => {
      clearTimeout(late);
      reject(tooMuch());
    });
  });
}

/** Reads a text when it is its turn. Rejects with YamlTextError, and with StatusError where it is too much to read. */
export async function parseYamlOnThread(text: string, tenant: string): Promise<Omit<ParsedJson, 'depth'>> {
  if (running === undefined) running = tenant;
  else {
    if (waiting.filter((one) => one.tenant === tenant).length >= mostWaiting) {
      throw new StatusError(429, 'TooManyRequests', 'too much YAML is being read, please try again later', {
        retryAfterSeconds: 1,
      });
    }
    await new Promise<void>((start) => waiting.push({ tenant, start }));
  }
  try {
    const answer = await readOnThread(text);
    if ('refused' in answer) throw new YamlTextError(answer.refused);
    return { value: JSON.parse(answer.json) as JsonValue, duplicates: answer.duplicates };
  } finally {
    next(tenant);
  }
}
