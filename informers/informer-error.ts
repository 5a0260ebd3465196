/** An informer is used in a way in which nothing would ever happen. */
export class InformerError extends Error {
  override readonly name = 'InformerError';
  /** `NotStarted`: nothing runs yet. `Released`: it has ended, and a new one may have taken its place. */
  readonly reason: 'NotStarted' | 'Released';

  constructor(reason: 'NotStarted' | 'Released', message: string) {
    super(message);
    this.reason = reason;
  }
}
