// Limit ranges.
import { declare } from '../declare.ts';

export const limitRanges = declare('', {
  kind: 'LimitRange',
  plural: 'limitranges',
  shortNames: ['limits'],
  namespaced: true,
  strategy: { generation: false },
});
