/** The lease is no longer ours. The work was told to stop; the process has to exit, because nobody may lead unelected. */
export class LeaderLostError extends Error {
  override readonly name = 'LeaderLostError';
  readonly reason = 'LeaderLost';
}
