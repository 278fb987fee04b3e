// events.k8s.io/v1: the events of core in another shape.
import type { KubeObject } from '../object.ts';
import { invalidValue, required } from '../schema/field-errors.ts';
import type { FieldError } from '../status.ts';
import { type CoreEvent, eventFields, validateEvent } from './core/events.ts';
import { declare } from './declare.ts';
import { immutable } from './metadata.ts';
import type { ResourceType } from './resource-type.ts';

/** Members by their name here and in core. */
const names: readonly (readonly [here: string, core: string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
];

function renamed(object: KubeObject, apiVersion: string, from: 0 | 1, to: 0 | 1): KubeObject {
  const byName = new Map(names.map((pair) => [pair[from], pair[to]]));
  const result: Record<string, unknown> = {};
  for (const [member, value] of Object.entries(object)) result[byName.get(member) ?? member] = value;
  return { ...result, apiVersion } as KubeObject;
}

/** From the stored form to this one. */
const toServed = (object: KubeObject): KubeObject => {
  const served = renamed(object, 'events.k8s.io/v1', 1, 0);
  // Members that this group leaves out when empty and core does not.
  if (served.reportingController === '') delete served.reportingController;
  if (served.reportingInstance === '') delete served.reportingInstance;
  if (Object.keys((served.regarding as object | undefined) ?? {}).length === 0) served.regarding = {};
  return served;
};

const toStored = (object: KubeObject): KubeObject => {
  const { apiVersion, kind, metadata, ...rest } = renamed(object, 'v1', 0, 1);
  return {
    apiVersion,
    kind,
    metadata,
    involvedObject: {},
    source: {},
    firstTimestamp: null,
    lastTimestamp: null,
    eventTime: null,
    reportingComponent: '',
    reportingInstance: '',
    ...rest,
  };
};

const asCore = (object: KubeObject): CoreEvent => renamed(object, 'v1', 0, 1) as CoreEvent;

function validateSeries({ series }: CoreEvent): FieldError[] {
  if (!series) return [];
  return [
    ...((series.count ?? 0) < 2 ? [invalidValue('series.count', '', 'should be at least 2')] : []),
    ...(series.lastObservedTime ? [] : [required('series.lastObservedTime')]),
  ];
}

function validate(object: KubeObject): FieldError[] {
  const event = asCore(object);
  const found = [...validateEvent(event, 'reportingController'), ...validateSeries(event)];
  if (!event.eventTime) found.push(required('eventTime'));
  if (event.type !== 'Normal' && event.type !== 'Warning') {
    found.push(invalidValue('type', '', `has invalid value: ${event.type ?? ''}`));
  }
  for (const member of ['firstTimestamp', 'lastTimestamp', 'count'] as const) {
    if (event[member]) found.push(invalidValue(member, '', 'needs to be unset'));
  }
  if (event.source?.component || event.source?.host) found.push(invalidValue('source', '', 'needs to be unset'));
  return found;
}

const fixed = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingInstance',
];

export const eventsTypes: readonly ResourceType[] = [
  declare('events.k8s.io', {
    kind: 'Event',
    plural: 'events',
    shortNames: ['ev'],
    namespaced: true,
    storage: '/events',
    strategy: {
      generation: false,
      validate,
      validateUpdate: (object, oldObject) => {
        const event = asCore(object);
        const old = asCore(oldObject);
        return [
          ...validateEvent(event, 'reportingController'),
          ...validateSeries(event),
          ...fixed.flatMap((member) => immutable(member, event[member], old[member])),
        ];
      },
      fields: (object) => eventFields(object.involvedObject ? object : asCore(object)),
    },
    convert: { toServed, toStored },
  }),
];
