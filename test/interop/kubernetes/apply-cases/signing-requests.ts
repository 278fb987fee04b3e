// Signing requests: three endpoints that may each change something else.
import { apply, create, type JsonMap, merge, type Row } from './case.ts';

const request =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISE1HNENBUUF3RERFS01BZ0dBMVVFQXd3QmRUQlpNQk1HQnlx' +
  'R1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCTkMwYm83RFlYNCticXROQzZJTnRwQXFwK1JIZDZiUncrU3UxV0VuK3BUTGd1Y3BV' +
  'cVhhbkZFdjNKQWhZZDJoCmQ1UVZhYXNoRXZnZ2owTGw2aDNWeVg2Z0FEQUtCZ2dxaGtqT1BRUURBZ05KQURCR0FpRUFtOWN1Qnp0' +
  'SXdpUFcKK1lMSDB1L0x3cnFWMFdSZmFCYUJLNkVPdTRuZDl5SUNJUUNkT3NraE9JNEVtaS8xSGxJd1FSNGhzVmpzT2M3aApDeGJj' +
  'bGhqcTdOeGtoUT09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=';

const asked: JsonMap = {
  metadata: { labels: { l: '1' } },
  spec: { request, signerName: 'example.com/signer', usages: ['client auth'] },
};
const condition: JsonMap = {
  type: 'Approved',
  status: 'True',
  reason: 'R',
  message: 'm',
  lastUpdateTime: '2020-01-01T00:00:00Z',
  lastTransitionTime: '2020-01-01T00:00:00Z',
};

export const signingRequestRows: readonly Row[] = [
  ['create', [], create('alice', asked)],
  ['apply creates', [], apply('alice', asked)],
  ['labels by another', [create('alice', asked)], merge('bob', { metadata: { labels: { a: 'b' } } })],
  [
    'approval',
    [create('alice', asked)],
    merge('approver', { status: { conditions: [condition] } }, { subresource: 'approval' }),
  ],
  [
    'labels with the approval',
    [create('alice', asked)],
    merge(
      'approver',
      { metadata: { labels: { a: 'b' } }, status: { conditions: [condition] } },
      { subresource: 'approval' },
    ),
  ],
  [
    'conditions by the status subresource',
    [create('alice', asked)],
    merge(
      'signer',
      { metadata: { labels: { a: 'b' } }, status: { conditions: [{ ...condition, type: 'Failed' }] } },
      { subresource: 'status' },
    ),
  ],
];
