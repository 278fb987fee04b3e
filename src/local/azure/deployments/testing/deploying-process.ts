// A process that a test kills: begins a deployment, or goes on with the one that is there, and tells of every card that it writes.
import { caller, group, idOf, openCloud } from './cloud.ts';
import { nested, template, thing } from './templates.ts';

const [file = '', countText = '1'] = process.argv.slice(2);
const count = Number(countText);
const main = `${group}/providers/Microsoft.Resources/deployments/main`;
const tell = (what: object): void => {
  process.stdout.write(`${JSON.stringify(what)}\n`);
};

const cloud = await openCloud({ file, onCard: (card) => tell({ card }) });
const inner = { expressionEvaluationOptions: { scope: 'inner' } };
const copy = { name: 'loop', count };
await cloud.world.resources.put(idOf(group), { location: 'eastus' }, { apiVersion: '2021-04-01', caller });
let operation = (await cloud.world.resources.read(main))?.body.operation;
if (operation === undefined && (await cloud.get(main)) === undefined) {
  operation = await cloud.begin(
    main,
    template(
      [
        thing('cards', "[format('a{0}', copyIndex())]", {
          copy,
          properties: { text: "[format('of {0}', copyIndex())]" },
        }),
        nested(
          'more',
          template([thing('cards', "[format('b{0}', copyIndex())]", { copy })]),
          { dependsOn: ['a0'] },
          inner,
        ),
      ],
      { outputs: { last: { type: 'string', value: `[reference('a${count - 1}').text]` } } },
    ),
  );
}
if (operation !== undefined) await cloud.world.resources.finished(operation);
tell({ end: (await cloud.get(main))?.properties ?? {} });
await cloud.stop();
