// A process that writes until it is killed. Prints a line for every commit that settled: its number and the revision after it.
// Each commit has ten objects of its own, one that all share, and one that it makes and deletes.
import { openObjects } from '../open.ts';
import { pod, pods } from './hosts.ts';

const [, , file = ''] = process.argv;
const host = await openObjects({ file });
const objects = host.open('killed');
const first = objects.count(pods) === 0 ? 0 : (objects.count(pods) - 1) / 10;

let next = first;
async function write(): Promise<void> {
  for (;;) {
    const number = next++;
    const revision = await objects.commit((transaction) => {
      for (let index = 0; index < 10; index++) transaction.put(pods, pod(`p-${number}-${index}`));
      transaction.put(pods, pod('shared', {}, { number }));
      transaction.put(pods, pod('short'));
      const short = transaction.get(pods, 'default', 'short');
      return short === undefined ? 0 : transaction.delete(short).revision;
    });
    process.stdout.write(`${number} ${revision}\n`);
  }
}
await Promise.all([write(), write(), write()]);
