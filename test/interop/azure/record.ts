// Records what az says to a fresh cloud and what it is answered:
//
//   AZ_BIN=<path of az> node test/interop/azure/record.ts
import { findPeer } from '../../peers.ts';
import { type Recording, startSession, writeRecordings } from './session.ts';
import { steps } from './steps.ts';

const found = findPeer('az');
if ('missing' in found) throw new Error(found.missing);
const session = await startSession(found.path);
try {
  const recordings: Recording[] = [session.signingIn];
  for (const step of steps) {
    const { ran, recording } = await session.run(step);
    recordings.push(recording);
    const asExpected = step.fails ? step.fails.test(ran.stderr) : ran.code === 0;
    process.stdout.write(`${asExpected ? 'ok  ' : 'FAIL'} ${step.name}: ${recording.exchanges.length} exchanges\n`);
    if (!asExpected) process.stdout.write(`${ran.stderr}\n`);
  }
  writeRecordings({ version: session.az.version, recordings });
} finally {
  await session.stop();
}
