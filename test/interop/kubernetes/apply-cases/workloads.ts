// Pieces of workloads that cases share.
import type { Json, JsonMap } from './case.ts';

export const podSpec = (...containers: Json[]): JsonMap => ({ containers });
export const web: JsonMap = {
  name: 'web',
  image: 'web:1',
  args: ['a', 'b'],
  env: [
    { name: 'A', value: '1' },
    { name: 'B', value: '2' },
  ],
  ports: [{ containerPort: 80 }, { containerPort: 81 }],
};
export const side: JsonMap = { name: 'side', image: 'side:1' };
export const deployment = (...containers: Json[]): JsonMap => ({
  metadata: { labels: { app: 'web' } },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: podSpec(...containers) },
  },
});
export const template = (spec: JsonMap): JsonMap => ({ spec: { template: { spec } } });
export const condition = (type: string, status = 'True'): JsonMap => ({ type, status });
