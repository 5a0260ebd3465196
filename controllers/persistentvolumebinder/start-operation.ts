import { keyOf, objectKey, type StorageClass } from '../../pkg/api/index.ts';
import type { Store } from '../../informers/index.ts';
import type { OperationAction, Subjects } from './apply.ts';
import { applyDelete } from './apply-delete.ts';
import { applyExternal, applyHostPath, type ProvisionDeps } from './apply-provision.ts';
import { applyRecycle, type RecycleDeps } from './apply-recycle.ts';
import type { BusyVolumes } from './busy.ts';
import type { OperationTimes } from './metrics.ts';
import { classOfVolume, type Claim, type Volume } from '../../pkg/volumes/index.ts';
import type { Operations } from './operations.ts';
import { deleterName, deleterOf, provisionerName } from './plugins.ts';

export interface OperationDeps extends ProvisionDeps, RecycleDeps {
  readonly operations: Operations;
  readonly times: OperationTimes;
  readonly busy: BusyVolumes;
  readonly classes: Pick<Store<StorageClass>, 'get'>;
}

/** Starts work that may take long, unless it runs already. */
export function startOperation(action: OperationAction, { claim, volume }: Subjects, deps: OperationDeps): void {
  if (action.kind === 'provision') {
    if (claim !== undefined) startProvisioning(claim, action, deps);
  } else if (volume !== undefined) {
    if (action.kind === 'delete') startDeletion(volume, deps);
    else deps.operations.start(recycling(volume), (signal) => applyRecycle(volume, deps, signal));
  }
}

const provisioning = ({ metadata }: Claim): string => `provision-${keyOf({ metadata })}[${metadata.uid}]`;
const recycling = ({ metadata }: Volume): string => `recycle-${metadata.name}[${metadata.uid}]`;
const deletion = ({ metadata }: Volume): string => `delete-${metadata.name}[${metadata.uid}]`;

function startProvisioning(
  claim: Claim,
  { storageClass, provisioner }: Extract<OperationAction, { kind: 'provision' }>,
  deps: OperationDeps,
): void {
  const { operations, times } = deps;
  operations.start(provisioning(claim), async (signal) => {
    const key = keyOf(claim);
    times.begin(key, provisionerName(storageClass), 'provision');
    try {
      if (provisioner.kind === 'external') await applyExternal(claim, provisioner.name, deps, signal);
      else await applyHostPath(claim, storageClass, deps, signal);
    } catch (error) {
      if (!signal.aborted) times.failed(key);
      throw error;
    }
  });
}

function startDeletion(volume: Volume, deps: OperationDeps): void {
  const { operations, times, busy, classes } = deps;
  const { name } = volume.metadata;
  times.begin(name, deleterName(volume, classes.get(objectKey(undefined, classOfVolume(volume)))), 'delete');
  if (deleterOf(volume).kind === 'external') return;
  operations.start(deletion(volume), async (signal) => {
    try {
      await busy.during(keyOf(volume), () => applyDelete(volume, deps, signal));
    } catch (error) {
      if (!signal.aborted) times.failed(name);
      throw error;
    }
  });
}

interface ForgetDeps {
  readonly operations: Pick<Operations, 'forget'>;
  readonly times: Pick<OperationTimes, 'abandon' | 'succeeded'>;
}

/** A claim is gone: its provisioning is neither timed nor delayed any more. */
export function forgetClaim(claim: Claim, { operations, times }: ForgetDeps): void {
  times.abandon(keyOf(claim));
  operations.forget(provisioning(claim));
}

/** A volume is gone: its deletion has ended, and neither that nor its recycling is delayed any more. */
export function forgetVolume(volume: Volume, { operations, times }: ForgetDeps): void {
  times.succeeded(volume.metadata.name);
  operations.forget(deletion(volume));
  operations.forget(recycling(volume));
}
