// Pins what the embedded server answers where it is known to answer otherwise than a real one. To be run on purpose only, when such
// an answer is meant to change:
//
//   node test/interop/kubernetes/record-differences.ts
import { startEmbeddedServer } from './cases/embedded-server.ts';
import { runCase, type Told } from './cases/run-case.ts';
import { differences, groups, pin, startedAgain } from './suite.ts';

const answers = new Map<string, readonly Told[]>();
for (const [group, cases] of Object.entries(groups)) {
  const differing = cases.filter(({ name }) => differences.has(name));
  if (differing.length === 0) continue;
  const server = await startEmbeddedServer(startedAgain.has(group));
  try {
    for (const one of differing) answers.set(one.name, await runCase(server.wire, one));
  } finally {
    await server.stop();
  }
}
await pin(answers);
process.stdout.write(`${answers.size} differences pinned\n`);
