// kubectl wait.
import { configMap, deployment, pod } from '../../cases/objects.ts';
import { type KubectlCase, withFiles } from '../case.ts';

const none = {
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'main', image: 'example.com/main:1' }] },
    },
  },
};

export const waitCases: readonly KubectlCase[] = [
  withFiles(
    'wait',
    { 'd.json': deployment('web', none), 'p.json': pod('p'), 'm.json': configMap('m', { data: { a: '1' } }) },
    'apply -f d.json -f p.json -f m.json',
    'wait deploy/web --for=condition=Available --timeout=30s',
    'wait deploy/web --for=condition=available=true --timeout=30s',
    'wait deploy/web --for=jsonpath={.spec.replicas}=0',
    'wait cm/m --for=jsonpath={.data.a}',
    'wait cm/m --for=create',
    'wait cm/m --for=jsonpath={.data.a}=2 --timeout=1s',
    'wait pod/p --for=condition=Ready --timeout=1s',
    `patch pod p --subresource=status --type=merge -p '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}'`,
    'wait pod/p --for=condition=Ready --timeout=10s',
    'wait pod/p --for=condition=Ready=false --timeout=1s',
    'wait cm/nothing --for=delete',
    'delete cm m --wait=false',
    'wait cm/m --for=delete --timeout=10s',
    'wait cm/nothing --for=jsonpath={.data.a}=2',
    'wait cm/nothing --for=create --timeout=1s',
    'wait pod/p --for=nothing',
    'wait pod/p --for=jsonpath={.a',
    'wait pods --for=condition=Ready',
    'wait pods --for=condition=Ready -l none=none',
    'wait pods --for=condition=Ready --all --timeout=10s',
    'wait nothings/x --for=delete',
  ),
];
