import type { Cached, Kind, KubeObject } from '../api/index.ts';

/** Records what happened to an object, for `kubectl describe`. Returns at once and never throws. */
export interface EventRecorder {
  event<T extends KubeObject>(kind: Kind<T>, about: Cached<T>, event: NewEvent): void;
}

export interface NewEvent {
  readonly type: 'Normal' | 'Warning';
  /** A public id in CamelCase, as `SuccessfulCreate`. */
  readonly reason: string;
  readonly message: string;
}
