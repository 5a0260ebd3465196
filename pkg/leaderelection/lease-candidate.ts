import { formatMicroTime, LeaseCandidates, objectKey, type LeaseCandidate } from '../api/index.ts';
import { isNotFound, type Client } from '../client/index.ts';
import type { Logger } from '../log/index.ts';
import type { Clock } from '../time/index.ts';
import type { LeaseName } from './lease-lock.ts';

/** By which the API server chooses among candidates. Semantic versions. */
export interface CandidateVersions {
  readonly binaryVersion: string;
  readonly emulationVersion: string;
}

export interface LeaseCandidateOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly candidate: CandidateVersions & { readonly identity: string; readonly lock: LeaseName };
}

/** The candidate with the oldest emulation version leads, so that no newer behaviour starts before all can have it. */
const strategy = 'OldestEmulationVersion';
/** A candidate that has not renewed for half an hour is removed. */
const renewPeriodSeconds = 300;
/** The API server waits five seconds for a renewal that it asks for. */
const retryMs = 1000;

/**
 * Announces a process as a candidate for a lease, and renews that when the API server asks, which it does before it
 * chooses. Runs until the signal aborts, also while the process leads. The object is left behind: the API server removes it.
 */
export async function runLeaseCandidate(options: LeaseCandidateOptions, signal: AbortSignal): Promise<void> {
  const { clock, logger, candidate } = options;
  while (!signal.aborted) {
    try {
      await announce(options, signal);
    } catch (error) {
      if (signal.aborted) return;
      logger.error({ lease: candidate.lock, err: error }, 'cannot announce this process as a candidate');
      await clock.sleep(retryMs, signal).catch(() => undefined); // rejects only on abort
    }
  }
}

/** Renews once, and then whenever the API server asks. Returns when it is time to renew anyway, or the object is gone. */
async function announce({ client, clock, candidate }: LeaseCandidateOptions, signal: AbortSignal): Promise<void> {
  const { namespace } = candidate.lock;
  const time = (): string => formatMicroTime(clock.now());
  const renew = (object: LeaseCandidate): Promise<LeaseCandidate> =>
    client.update(LeaseCandidates, { ...object, spec: planRenewal(object.spec, time()) }, signal);
  const known = await find(client, candidate, signal);
  const { metadata } = known === undefined ? await create(client, candidate, time(), signal) : await renew(known);
  const events = client.watch(
    LeaseCandidates,
    {
      namespace,
      fieldSelector: `metadata.name=${candidate.identity}`,
      resourceVersion: metadata.resourceVersion,
      timeoutSeconds: renewPeriodSeconds,
    },
    signal,
  );
  for await (const event of events) {
    if (event.type === 'DELETED') return;
    if (event.type === 'MODIFIED' && isAsked(event.object)) await renew(event.object);
  }
}

/** Whether the API server waits for a renewal. Both times are MicroTimes, which compare as text. */
export function isAsked({ spec }: Pick<LeaseCandidate, 'spec'>): boolean {
  return (spec.pingTime ?? '') > (spec.renewTime ?? '');
}

/** The renewal at `time`, but not before the API server asked for it: the clock of this process may be behind. */
export function planRenewal(spec: LeaseCandidate['spec'], time: string): LeaseCandidate['spec'] {
  const askedTime = spec.pingTime ?? '';
  return { ...spec, renewTime: askedTime > time ? askedTime : time };
}

async function find(
  client: Client,
  { identity, lock }: LeaseCandidateOptions['candidate'],
  signal: AbortSignal,
): Promise<LeaseCandidate | undefined> {
  try {
    return await client.get(LeaseCandidates, objectKey(lock.namespace, identity), signal);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function create(
  client: Client,
  { identity, lock, binaryVersion, emulationVersion }: LeaseCandidateOptions['candidate'],
  renewTime: string,
  signal: AbortSignal,
): Promise<LeaseCandidate> {
  const metadata = { namespace: lock.namespace, name: identity };
  const spec = { leaseName: lock.name, binaryVersion, emulationVersion, strategy, renewTime };
  return client.create(LeaseCandidates, { metadata, spec }, signal);
}
