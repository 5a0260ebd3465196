import type { Kind } from '../api/index.ts';

/** Records what happened to an object, for `kubectl describe`. Returns at once and never throws. */
export interface EventRecorder {
  event(kind: Kind, about: EventSubject, event: NewEvent): void;
}

/** The object that an event is about. Absent fields are omitted from the reference. */
export interface EventSubject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly uid?: string | undefined;
    readonly resourceVersion?: string | undefined;
  };
}

export interface NewEvent {
  readonly type: 'Normal' | 'Warning';
  /** A public id in CamelCase, as `SuccessfulCreate`. */
  readonly reason: string;
  readonly message: string;
  /** The part of the object that the event is about, as `spec.containers{web}`. */
  readonly fieldPath?: string | undefined;
}
