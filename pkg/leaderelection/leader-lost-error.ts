/** This process has lost the lease. Its work was aborted, and the process must exit. */
export class LeaderLostError extends Error {
  override readonly name = 'LeaderLostError';
  readonly reason = 'LeaderLost';
}
