// Events, which events.k8s.io serves from the same place under other names.
import type { KubeObject } from '../../object.ts';
import { invalidBy, invalidValue, required } from '../../schema/field-errors.ts';
import { pathSegmentName, qualifiedName } from '../../schema/names.ts';
import type { FieldError } from '../../status.ts';
import { declare } from '../declare.ts';

export interface CoreEvent extends KubeObject {
  involvedObject?: Record<string, string>;
  source?: { component?: string; host?: string };
  reason?: string;
  message?: string;
  action?: string;
  type?: string;
  count?: number;
  eventTime?: string | null;
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  reportingComponent?: string;
  reportingInstance?: string;
  series?: { count?: number; lastObservedTime?: string };
}

const longest = (field: string, value: string | undefined, most: number): FieldError[] =>
  Buffer.byteLength(value ?? '') > most ? [invalidValue(field, '', `can have at most ${most} characters`)] : [];

/** What both groups ask of an event. `reporting` is the name of the controller's field in the one asked. */
export function validateEvent(object: KubeObject, reporting: string): FieldError[] {
  const event = object as CoreEvent;
  const namespace = object.metadata.namespace ?? '';
  const involved = event.involvedObject?.namespace ?? '';
  const mismatch = invalidValue('involvedObject.namespace', involved, 'does not match event.namespace');
  if (!event.eventTime) {
    const fits = involved ? namespace === involved : namespace === '' || namespace === 'default';
    return fits ? [] : [mismatch];
  }
  const controller = event.reportingComponent ?? '';
  const found: FieldError[] = [];
  if (!involved && namespace !== 'default' && namespace !== 'kube-system') found.push(mismatch);
  if (!controller) found.push(required(reporting));
  found.push(...invalidBy(reporting, controller, qualifiedName(controller)));
  if (!event.reportingInstance) found.push(required('reportingInstance'));
  found.push(...longest('reportingInstance', event.reportingInstance, 128));
  if (!event.action) found.push(required('action'));
  found.push(...longest('action', event.action, 128));
  if (!event.reason) found.push(required('reason'));
  return [...found, ...longest('reason', event.reason, 128), ...longest('message', event.message, 1024)];
}

/** What field selectors may ask of an event; its members under the names of core. */
export function eventFields(object: KubeObject): Record<string, string> {
  const { involvedObject = {}, reason = '', reportingComponent = '', source, type = '' } = object as CoreEvent;
  return {
    'involvedObject.kind': involvedObject.kind ?? '',
    'involvedObject.namespace': involvedObject.namespace ?? '',
    'involvedObject.name': involvedObject.name ?? '',
    'involvedObject.uid': involvedObject.uid ?? '',
    'involvedObject.apiVersion': involvedObject.apiVersion ?? '',
    'involvedObject.resourceVersion': involvedObject.resourceVersion ?? '',
    'involvedObject.fieldPath': involvedObject.fieldPath ?? '',
    reason,
    reportingComponent,
    source: source?.component || reportingComponent,
    type,
  };
}

export const coreEvents = declare('', {
  kind: 'Event',
  plural: 'events',
  shortNames: ['ev'],
  namespaced: true,
  strategy: {
    generation: false,
    nameRule: pathSegmentName,
    validate: (object) => validateEvent(object, 'reportingComponent'),
    fields: eventFields,
  },
});
