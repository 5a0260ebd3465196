import type { Client } from '../client/index.ts';
import type { EventRecorder } from '../events/index.ts';
import type { Logger } from '../log/index.ts';
import type { Clock, Random } from '../time/index.ts';
import type { ElectionDurations } from './durations.ts';
import type { LeaseName } from './lease-lock.ts';

export interface LeaderElectionOptions extends ElectionDurations {
  /** Use a separate client, so that no rate limit and no other requests delay a renewal. */
  readonly client: Client;
  readonly clock: Clock;
  readonly lock: LeaseName;
  /** Must be unique: see `newIdentity`. */
  readonly identity: string;
  /** Release the lease on a clean stop, so that the next candidate need not wait for it to expire. */
  readonly releaseOnCancel: boolean;
  readonly logger: Logger;
  readonly metrics?: LeaderMetrics | undefined;
  /** Called with each newly observed holder of the lease, including this process. */
  readonly onNewLeader?: ((identity: string) => void) | undefined;
  /** Writes an event on the lease when this process starts and stops leading. */
  readonly events?: EventRecorder | undefined;
  readonly random?: Random | undefined;
  /** The API server chooses among the candidates, see `runLeaseCandidate`. Default: the first one wins. */
  readonly coordinated?: boolean | undefined;
}

/** The metrics of an election. `name` is the name of the lease. */
export interface LeaderMetrics {
  /** `leader_election_master_status`: called with `false` from the start, so that the series exists. */
  setLeading(name: string, leading: boolean): void;
  /** `leader_election_slowpath_total`: a leader had to read the lease before it could renew it. */
  countSlowPath(name: string): void;
}
