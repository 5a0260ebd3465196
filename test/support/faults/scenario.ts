import type { Kind } from '../../../pkg/api/index.ts';
import type { Client } from '../../../pkg/client/index.ts';
import type { HollowNodes } from '../../../pkg/hollow/index.ts';
import type { ClusterAccess } from '../../cluster/index.ts';

/** What users do while faults befall the writes of one controller. It takes a second or two when none does. */
export interface FaultScenario {
  /** Its name in the registry. */
  readonly controller: string;
  /** Others that it does not get on without. */
  readonly beside?: readonly string[];
  flags?(cluster: ClusterAccess): readonly string[];
  /** What the end states are compared by. Of kinds outside namespaces, the objects with the trial's name in theirs. */
  readonly kinds: readonly Kind[];
  /** More that the end states may differ in, as `compareStates` takes it. */
  readonly ignore?: readonly string[];
  /** The controller looks when it starts, and then not again for long. `act` comes before the start. */
  readonly looksAtStart?: boolean;
  /** Without the `default` ServiceAccount, which other controllers' pods need. */
  readonly isBare?: boolean;
  /** Does what users do, and resolves when the controller should have nothing left to do. */
  act(stage: FaultStage): Promise<void>;
}

/** What one trial may use, and what is its own. */
export interface FaultStage {
  /** The user's, which goes straight to the server. */
  readonly client: Client;
  /** The trial's own. What it makes outside namespaces has this name as the beginning of its own. */
  readonly namespace: string;
  readonly hollow: HollowNodes;
  readonly signal: AbortSignal;
}
