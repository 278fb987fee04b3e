// What becomes of a pod when nobody says otherwise, and the outcomes it may ask for by annotation.
import type { Stage } from './stage.ts';

const creating = { ms: 500, jitterMs: 1000 };
const soon = { ms: 1000, jitterMs: 2000 };

export const defaultStages: readonly Stage[] = [
  {
    name: 'delete',
    match: { at: ['deleting'] },
    delay: 'grace',
    next: {
      outcome: 'stopped',
      delete: true,
      events: [{ type: 'Normal', reason: 'Killing', message: 'Stopping container {container}' }],
    },
  },
  {
    name: 'evict',
    match: { at: ['running', 'ready', 'gates'], outcome: 'evict' },
    delay: soon,
    next: {
      outcome: 'evicted',
      events: [
        { type: 'Warning', reason: 'Evicted', message: 'The node was low on resource: memory.' },
        { type: 'Normal', reason: 'Killing', message: 'Stopping container {container}' },
      ],
    },
  },
  { name: 'create', match: { at: ['scheduled'] }, delay: { ms: 0, jitterMs: 200 }, next: { outcome: 'creating' } },
  {
    name: 'init-container-running',
    match: { at: ['init-waiting'] },
    delay: creating,
    next: { outcome: 'init-running' },
  },
  {
    name: 'init-container-completed',
    match: { at: ['init-running'] },
    delay: soon,
    next: { outcome: 'init-completed' },
  },
  {
    name: 'image-pull-error',
    match: { at: ['creating'], outcome: 'image-pull-error' },
    delay: creating,
    next: {
      outcome: 'image-pull-error',
      events: [
        { type: 'Normal', reason: 'Pulling', message: 'Pulling image "{image}"' },
        {
          type: 'Warning',
          reason: 'Failed',
          message: 'Failed to pull image "{image}": failed to resolve reference "{image}": not found',
        },
        { type: 'Warning', reason: 'Failed', message: 'Error: ErrImagePull' },
      ],
    },
  },
  {
    name: 'image-pull-backoff',
    match: { at: ['image-pull-error'], outcome: 'image-pull-error' },
    delay: soon,
    next: {
      outcome: 'image-pull-backoff',
      events: [
        { type: 'Normal', reason: 'BackOff', message: 'Back-off pulling image "{image}"' },
        { type: 'Warning', reason: 'Failed', message: 'Error: ImagePullBackOff' },
      ],
    },
  },
  // Nothing follows for this one: the first match counts.
  {
    name: 'image-pull-waits',
    match: { at: ['image-pull-backoff'], outcome: 'image-pull-error' },
    delay: { ms: 0 },
    next: {},
  },
  {
    name: 'start',
    match: { at: ['creating', 'image-pull-error', 'image-pull-backoff'] },
    delay: creating,
    next: {
      outcome: 'running',
      events: [
        { type: 'Normal', reason: 'Pulled', message: 'Container image "{image}" already present on machine' },
        { type: 'Normal', reason: 'Created', message: 'Created container: {container}' },
        { type: 'Normal', reason: 'Started', message: 'Started container {container}' },
      ],
    },
  },
  {
    name: 'crash',
    match: { at: ['running', 'ready', 'gates'], outcome: 'crash', restartPolicy: ['Always', 'OnFailure'] },
    delay: { ...soon, always: true },
    next: {
      outcome: 'crashed',
      events: [
        {
          type: 'Warning',
          reason: 'BackOff',
          message: 'Back-off restarting failed container {container} in pod {pod}_{namespace}({uid})',
        },
      ],
    },
  },
  { name: 'restart', match: { at: ['crashed'] }, delay: 'backoff', next: { outcome: 'restarted' } },
  {
    name: 'fail',
    match: { at: ['running', 'ready', 'gates'], outcome: 'fail' },
    delay: soon,
    next: { outcome: 'failed' },
  },
  {
    name: 'fail-without-restart',
    match: { at: ['running', 'ready', 'gates'], outcome: 'crash', restartPolicy: ['Never'] },
    delay: soon,
    next: { outcome: 'failed' },
  },
  {
    name: 'complete',
    match: { at: ['running', 'ready', 'gates'], outcome: 'complete' },
    delay: soon,
    next: { outcome: 'completed' },
  },
  {
    name: 'job-complete',
    match: { at: ['ready'], outcome: null, ownerKind: 'Job' },
    delay: soon,
    next: { outcome: 'completed' },
  },
  // Nor for this one.
  { name: 'never-ready', match: { at: ['running'], outcome: 'never-ready' }, delay: { ms: 0 }, next: {} },
  { name: 'ready', match: { at: ['running'] }, delay: { ms: 0, jitterMs: 500 }, next: { outcome: 'ready' } },
  { name: 'readiness-gates', match: { at: ['gates'] }, delay: { ms: 0 }, next: { outcome: 'gates' } },
];
