import type { ClientBuilder } from '../client/index.ts';
import type { EventBroadcaster } from '../events/index.ts';
import { LeaderElector, runLeaseCandidate } from '../leaderelection/index.ts';
import { createLeaderElectionMetrics } from '../metrics/index.ts';
import type { Host } from './host.ts';
import type { Term } from './migration.ts';
import { defaultDurations, type LeaderElectionSettings, type ManagerOptions } from './options.ts';

/** Connections of the election only, so that no other requests can fill them. */
export const leaseConnections = 'leader-election';

interface ElectorParts extends Pick<Host, 'clock' | 'logger' | 'identity' | 'random' | 'registry'> {
  readonly clients: ClientBuilder;
  readonly events: EventBroadcaster;
  /** The namespace of the kubeconfig's context. */
  readonly namespace: string | undefined;
}

/** The elector of the manager's lease, and of the second lease if the settings have one. */
export function createElectors(
  options: ManagerOptions,
  parts: ElectorParts,
): { readonly main: LeaderElector; readonly second: Term['second'] } {
  const main = createElector(options, parts);
  const { leaderElection } = options;
  const settings = typeof leaderElection === 'object' ? leaderElection.migration : undefined;
  if (typeof leaderElection !== 'object' || settings === undefined) return { main, second: undefined };
  // Candidates announce themselves for the first lease only, so the API server gives nobody the second.
  const second = { ...options, leaderElection: { ...leaderElection, name: settings.name, coordination: undefined } };
  return { main, second: { settings, elector: createElector(second, parts) } };
}

/** Announces this process as a candidate until the signal aborts, if the API server chooses the leader. */
export async function runCandidacy(options: ManagerOptions, parts: ElectorParts, signal: AbortSignal): Promise<void> {
  const { lock, settings } = readSettings(options, parts);
  if (settings.coordination === undefined) return;
  const { clock, identity, logger, clients } = parts;
  const client = clients.processClientFor('leader-election', { qps: 0, connections: leaseConnections });
  const candidate = { ...settings.coordination, identity, lock };
  await runLeaseCandidate({ client, clock, logger, candidate }, signal);
}

function readSettings({ name, leaderElection }: ManagerOptions, { namespace }: Pick<ElectorParts, 'namespace'>) {
  const settings: LeaderElectionSettings = typeof leaderElection === 'object' ? leaderElection : {};
  const lock = { namespace: settings.namespace ?? namespace ?? 'default', name: settings.name ?? name };
  return { settings, lock };
}

function createElector(options: ManagerOptions, parts: ElectorParts): LeaderElector {
  const { clock, logger, random, registry, clients, events } = parts;
  const { settings, lock } = readSettings(options, parts);
  return new LeaderElector({
    ...defaultDurations,
    ...settings,
    // Neither a rate limit nor other requests may delay a renewal.
    client: clients.processClientFor('leader-election', { qps: 0, connections: leaseConnections }),
    clock,
    lock,
    identity: parts.identity,
    releaseOnCancel: settings.releaseOnCancel ?? true,
    logger,
    metrics: createLeaderElectionMetrics(registry, [lock.name]),
    onNewLeader: (identity) => logger.info({ leader: identity }, 'new leader'),
    events: events.recorderFor(options.name),
    random,
    coordinated: settings.coordination !== undefined,
  });
}
