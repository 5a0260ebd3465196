import type { Kind } from '../api/index.ts';

/** Records what happened to an object, for `kubectl describe`. Returns at once and never throws. */
export interface EventRecorder {
  event(kind: Kind, about: EventSubject, event: NewEvent): void;
}

/** What an event is about: any object, or as much of one as is known. What is absent is left out of the reference. */
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
  /** The part of the object that is meant, as `spec.containers{web}`. */
  readonly fieldPath?: string | undefined;
}
