// Types of events: `<group>.<version>.<resource>.<subresource>.<action>`.
import { type Decoded, decoded, refused } from './refusal.ts';

/** The only data type in use. */
export const manifestBundles = 'io.open-cluster-management.works.v1alpha1.manifestbundles';

/** Sent on every Subscribe stream, so that the other side can tell a quiet stream from a dead one. */
export const heartbeatType = 'io.open-cluster-management.cloudevents.heartbeat';

export type SubResource = 'spec' | 'status';

export type Action = 'create_request' | 'update_request' | 'delete_request' | 'resync_request' | 'resync_response';

export interface EventType {
  /** `<group>.<version>.<resource>` */
  readonly dataType: string;
  readonly subResource: SubResource;
  readonly action: Action;
}

const actions: ReadonlySet<string> = new Set<Action>([
  'create_request',
  'update_request',
  'delete_request',
  'resync_request',
  'resync_response',
]);

const maxTypeLength = 512;

export function formatEventType(type: EventType): string {
  return `${type.dataType}.${type.subResource}.${type.action}`;
}

/** The type of a bundle's event. */
export function bundleEventType(subResource: SubResource, action: Action): string {
  return `${manifestBundles}.${subResource}.${action}`;
}

/** Read from the right, since a group has dots of its own. */
export function parseEventType(text: string): Decoded<EventType> {
  const parts = text.length > maxTypeLength ? [] : text.split('.');
  const action = parts.pop() ?? '';
  const subResource = parts.pop();
  if (parts.length < 3 || parts.includes('')) return unknown('it has fewer than five parts');
  if (subResource !== 'spec' && subResource !== 'status') return unknown('its sub-resource is neither spec nor status');
  if (!isAction(action)) return unknown('its action is not known');
  return decoded({ dataType: parts.join('.'), subResource, action });
}

/** The data type that a subscription asks for: `<group>.<version>.<resource>`. */
export function isDataType(text: string): boolean {
  const parts = text.length > maxTypeLength ? [] : text.split('.');
  return parts.length >= 3 && !parts.includes('');
}

function isAction(text: string): text is Action {
  return actions.has(text);
}

function unknown(why: string): Decoded<EventType> {
  return refused('unknown-type', `the event's type is not one of Maestro's: ${why}`);
}
