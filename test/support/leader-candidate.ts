import { ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import { EventBroadcaster } from '../../pkg/events/index.ts';
import { runLeaderElection } from '../../pkg/leaderelection/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { silentLogger } from './loggers.ts';

/** The output of a candidate, one JSON line each. */
export interface CandidateReport {
  readonly atMs: number;
  readonly state: 'waiting' | 'leading' | 'stopping' | 'ended';
}

/**
 * One candidate in its own process, which tests kill: `node leader-candidate.ts kubeconfig namespace/name identity`. As
 * the leader it only prints that it leads.
 */
async function main([kubeconfig = '', lease = '', identity = '']: readonly string[]): Promise<void> {
  const [namespace = '', name = ''] = lease.split('/');
  const say = (state: CandidateReport['state']): void => {
    process.stdout.write(`${JSON.stringify({ atMs: Date.now(), state } satisfies CandidateReport)}\n`);
  };
  const clock = systemClock;
  const connection = await loadKubeconfig({ path: kubeconfig }, clock);
  const clients = new ClientBuilder({ connection, clock, userAgent: 'leader-candidate' });
  const client = clients.clientFor('leader-election');
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  const events = new EventBroadcaster({ client: clients.clientFor('events'), clock, logger: silentLogger });
  const eventsStop = new AbortController();
  const sending = events.run(eventsStop.signal);
  const options = {
    client,
    clock,
    lock: { namespace, name },
    identity,
    leaseDurationMs: 3000,
    renewDeadlineMs: 2000,
    retryPeriodMs: 500,
    releaseOnCancel: true,
    logger: silentLogger,
    events: events.recorderFor('kube-controller-manager'),
  };
  const lead = async (signal: AbortSignal): Promise<void> => {
    say('leading');
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    say('stopping');
  };
  say('waiting');
  try {
    await runLeaderElection(options, lead, stop.signal);
  } finally {
    say('ended');
    eventsStop.abort();
    await sending;
    clients.close();
  }
}

if (import.meta.main) await main(process.argv.slice(2));
