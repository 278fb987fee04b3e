// Reads one YAML text on a thread of its own.
import { parentPort, workerData } from 'node:worker_threads';
import { parseYaml, YamlTextError } from './yaml.ts';
import type { WorkerAnswer } from './yaml-thread.ts';

function read(): WorkerAnswer {
  try {
    const { value, duplicates } = parseYaml(workerData as string);
    return { json: JSON.stringify(value), duplicates };
  } catch (error) {
    if (error instanceof YamlTextError) return { refused: error.message };
    // Values that are too deep to be written.
    if (error instanceof RangeError) return { refused: 'yaml: exceeded max depth of 10000' };
    throw error;
  }
}

parentPort?.postMessage(read());
