import { apiVersionOf, formatTime, type CoreEvent, type Kind, type Unsaved } from '../api/index.ts';
import type { EventSubject, NewEvent } from './recorder.ts';

/** An event to be written, in the form of the core/v1 recorder: with a count and two times, without `eventTime`. */
export type EventDraft = Unsaved<CoreEvent> & { count: number; firstTimestamp: string; lastTimestamp: string };

export interface EventOrigin {
  readonly component: string;
  readonly name: string;
  readonly nowMs: number;
}

export function composeEvent(kind: Kind, { metadata }: EventSubject, event: NewEvent, origin: EventOrigin): EventDraft {
  const { name, uid, resourceVersion } = metadata;
  const namespace = metadata.namespace === '' ? undefined : metadata.namespace;
  const time = formatTime(origin.nowMs);
  const { type, reason, message, fieldPath } = event;
  return {
    // Events about cluster-scoped objects are in the namespace `default`.
    metadata: { name: origin.name, namespace: namespace ?? 'default' },
    involvedObject: {
      kind: kind.kind,
      apiVersion: apiVersionOf(kind),
      namespace,
      name,
      uid,
      resourceVersion,
      fieldPath,
    },
    reason,
    message,
    type,
    source: { component: origin.component },
    reportingComponent: origin.component,
    reportingInstance: '', // the host of the source, which a controller manager does not set
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
}

/**
 * The name of an event: the name of its object and a time in nanoseconds, which makes it unique. Undefined if the server
 * would reject this name: names of RBAC objects and very long names are not valid for events.
 */
export function eventName(objectName: string, nanos: bigint): string | undefined {
  const name = `${objectName}.${nanos.toString(16)}`;
  return name.length <= 253 && subdomain.test(name) ? name : undefined;
}

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
