import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';

import {
  keyOf,
  objectKey,
  PersistentVolumeClaims,
  PersistentVolumes,
  type Node,
  type PersistentVolume,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { isAlreadyExists, isConflict, isNotFound, serverMessage } from '../../pkg/client/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import type { Store } from '../../informers/index.ts';
import {
  betaStorageProvisioner,
  migrateClaimAnnotations,
  selectedNode,
  storageProvisioner,
  annotationOf,
  type Claim,
  type Class,
} from '../../pkg/volumes/index.ts';
import { editClaim, normal, warning } from './actions.ts';
import { keepVolume, updateClaim, type ApplyDeps } from './apply.ts';
import { deleteDirectory } from './apply-delete.ts';
import { dataSourceProblem, planHostPath, provisionedName } from './host-path.ts';
import { timePlugin } from './metrics.ts';
import { isUnnamed } from './plan-claim.ts';
import { hostPathPlugin } from './plugins.ts';

/** How often the object of a volume that is there already is tried to be created, and how long after each failure. */
const attempts = 5;
const attemptDelayMs = 10_000;

export interface ProvisionDeps extends ApplyDeps {
  readonly clock: Clock;
  readonly nodes: Pick<Store<Node>, 'get'>;
  readonly isHostPathEnabled: boolean;
}

/** Asks an external provisioner, which waits for the annotations. */
export async function applyExternal(
  claim: Claim,
  name: string,
  deps: ProvisionDeps,
  signal: AbortSignal,
): Promise<void> {
  let asked;
  try {
    asked = await nameProvisioner(claim, name, deps, signal);
  } catch (error) {
    if (!signal.aborted) fail(claim, `Error saving claim: ${serverMessage(error)}`, deps);
    throw error;
  }
  const message =
    `Waiting for a volume to be created either by the external provisioner '${name}' or manually by the system administrator. ` +
    'If volume creation is delayed, please verify that the provisioner is running and correctly registered.';
  deps.recorder.event(PersistentVolumeClaims, asked, normal('ExternalProvisioning', message));
}

/**
 * Says who is to provision. Whoever made the claim may change it right away, such as a StatefulSet that becomes its owner.
 * Without the second attempt, the claim would wait for the next sync of all.
 */
async function nameProvisioner(claim: Claim, name: string, deps: ApplyDeps, signal: AbortSignal): Promise<Claim> {
  try {
    return await annotate(claim, name, deps, signal);
  } catch (error) {
    if (!isConflict(error)) throw error;
    const current = await deps.client.get(PersistentVolumeClaims, keyOf(claim), signal);
    if (current.metadata.uid !== claim.metadata.uid || !isUnnamed(current)) throw error;
    return annotate(current, name, deps, signal);
  }
}

async function annotate(claim: Claim, name: string, deps: ApplyDeps, signal: AbortSignal): Promise<Claim> {
  if (annotationOf(claim, storageProvisioner) === name) return claim;
  const annotations = { ...claim.metadata.annotations, [betaStorageProvisioner]: name, [storageProvisioner]: name };
  const migrated = migrateClaimAnnotations(annotations) ?? annotations;
  return updateClaim(editClaim(claim, { annotations: migrated }), deps, signal);
}

function fail(claim: Claim, message: string, { recorder }: ApplyDeps, reason = 'ProvisioningFailed'): void {
  recorder.event(PersistentVolumeClaims, claim, warning(reason, message));
}

/** Makes a directory, and the volume that stands for it. */
export async function applyHostPath(
  given: Claim,
  storageClass: Class,
  deps: ProvisionDeps,
  signal: AbortSignal,
): Promise<void> {
  const problem = dataSourceProblem(given);
  if (problem !== undefined) {
    fail(given, problem, deps);
    throw new ProvisioningError(problem);
  }
  const claim = await nameProvisioner(given, storageClass.provisioner, deps, signal);
  if (await isProvisioned(claim, deps, signal)) return;
  const isNode = (name: string): boolean => deps.nodes.get(objectKey(undefined, name)) !== undefined;
  const plan = planHostPath({ claim, storageClass, isEnabled: deps.isHostPathEnabled, id: randomUUID(), isNode });
  if (plan.kind === 'refuse') {
    fail(claim, plan.message, deps);
    throw new ProvisioningError(plan.message);
  }
  try {
    await timePlugin(deps.metrics, deps.clock, 'volume_provision', async () => {
      if (plan.problem !== undefined) throw new ProvisioningError(plan.problem);
      await mkdir(plan.path, { recursive: true, mode: 0o750 });
    });
  } catch (error) {
    await reschedule(claim, deps, signal);
    const { name } = storageClass.metadata;
    fail(claim, `Failed to provision volume with StorageClass "${name}": ${serverMessage(error)}`, deps);
    throw error;
  }
  await saveProvisioned(plan.volume, claim, deps, signal);
}

/** An earlier attempt may have ended between the creation of the volume and its answer. */
async function isProvisioned(claim: Claim, { client }: ApplyDeps, signal: AbortSignal): Promise<boolean> {
  try {
    await client.get(PersistentVolumes, objectKey(undefined, provisionedName(claim)), signal);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** The scheduler then selects a node again. */
async function reschedule(claim: Claim, deps: ApplyDeps, signal: AbortSignal): Promise<void> {
  const { [selectedNode]: node, ...annotations } = claim.metadata.annotations ?? {};
  if (node === undefined) return;
  try {
    await updateClaim(editClaim(claim, { annotations }), deps, signal);
  } catch (error) {
    if (signal.aborted) throw error; // otherwise the next attempt removes it
  }
}

async function saveProvisioned(
  volume: Unsaved<PersistentVolume>,
  claim: Claim,
  deps: ProvisionDeps,
  signal: AbortSignal,
): Promise<void> {
  const name = volume.metadata.name ?? '';
  const error = await tryOften(
    async () => {
      try {
        keepVolume(await deps.client.create(PersistentVolumes, volume, signal), deps);
      } catch (refusal) {
        if (!isAlreadyExists(refusal)) throw refusal;
      }
    },
    deps,
    signal,
  );
  if (error === undefined) {
    const message = `Successfully provisioned volume ${name} using ${hostPathPlugin}`;
    deps.recorder.event(PersistentVolumeClaims, claim, normal('ProvisioningSucceeded', message));
    return;
  }
  const key = keyOf(claim);
  fail(
    claim,
    `Error creating provisioned PV object for claim ${key}: ${serverMessage(error)}. Deleting the volume.`,
    deps,
  );
  const path = volume.spec.hostPath?.path ?? '';
  const left = await tryOften(() => deleteDirectory(path, deps), deps, signal);
  if (left === undefined) return;
  const message = `Error cleaning provisioned volume for claim ${key}: ${serverMessage(left)}. Please delete manually.`;
  fail(claim, message, deps, 'ProvisioningCleanupFailed');
}

/** The last error; undefined after a success. */
async function tryOften(attempt: () => Promise<void>, { clock }: ProvisionDeps, signal: AbortSignal): Promise<unknown> {
  let error: unknown;
  for (let count = 0; count < attempts; count++) {
    try {
      await attempt();
      return undefined;
    } catch (failure) {
      signal.throwIfAborted();
      error = failure;
    }
    await clock.sleep(attemptDelayMs, signal);
  }
  return error;
}

/** A plugin refused to provision. The event says why. */
class ProvisioningError extends Error {
  override readonly name = 'ProvisioningError';
  readonly reason = 'ProvisioningFailed';
}
