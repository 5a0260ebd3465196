import type { Kind } from '../../../pkg/api/index.ts';
import type { Client } from '../../../pkg/client/index.ts';
import type { HollowNodes } from '../../../pkg/hollow/index.ts';
import type { ClusterAccess, ClusterOptions } from '../../cluster/index.ts';

/** The actions of users while faults affect the writes of one controller. Takes a second or two without faults. */
export interface FaultScenario {
  /** Its name in the registry. */
  readonly controller: string;
  /** What this scenario is about, if the controller has several: `with a gang`. */
  readonly about?: string;
  /** Other controllers that it requires. */
  readonly beside?: readonly string[];
  flags?(cluster: ClusterAccess): readonly string[];
  /** Gates and APIs of the API server that are off by default. The sandbox has none of them. */
  readonly needs?: Pick<ClusterOptions, 'featureGates' | 'runtimeConfig'>;
  /** The kinds whose end states are compared. For cluster-scoped kinds, the objects with the trial's name in theirs. */
  readonly kinds: readonly Kind[];
  /** More differences to ignore, in the form of `compareStates`. */
  readonly ignore?: readonly string[];
  /** It writes objects that all trials share, so trials run one after another. */
  readonly isAlone?: boolean;
  /** The controller runs at its start, and then not for a long time. `act` runs before the start. */
  readonly looksAtStart?: boolean;
  /** Without the `default` ServiceAccount, which other controllers' pods need. */
  readonly isBare?: boolean;
  /** Acts like users, and resolves when the controller should have nothing left to do. */
  act(stage: FaultStage): Promise<void>;
}

/** The resources of one trial. */
export interface FaultStage {
  /** The user's client, which bypasses the proxy. */
  readonly client: Client;
  readonly cluster: ClusterAccess;
  /** The name of the trial. Cluster-scoped objects that it creates start with this name. */
  readonly namespace: string;
  readonly hollow: HollowNodes;
  readonly signal: AbortSignal;
}
