import type { VNode } from 'preact';

import type { CacheState, Lane, LeaseState, LoopState } from '../protocol.ts';
import { LaneCard } from './lane.tsx';
import { Mark } from './parts.tsx';
import { formatAgo, formatCount, formatSeconds, plural } from './words.ts';

export function Loop({ loop }: { loop: LoopState | undefined }): VNode {
  return (
    <>
      <div class="view-head">
        <h1 tabIndex={-1}>Loop</h1>
        <p class="muted">Events become keys. Keys wait in a queue until a worker reconciles them.</p>
      </div>
      {loop === undefined ? <p class="empty">Waiting for the first figures…</p> : <Figures loop={loop} />}
    </>
  );
}

function Figures({ loop: { lease, lanes, caches } }: { loop: LoopState }): VNode {
  const busy = lanes.filter(isBusy);
  const idle = lanes.filter((lane) => !isBusy(lane));
  return (
    <>
      {lease !== undefined && <LeaseCard lease={lease} />}
      <section aria-label="Controllers">
        <h2>
          Controllers <span class="count">{formatCount(busy.length)} busy</span>
        </h2>
        {busy.length === 0 && <p class="empty">All queues are empty, and no key was reconciled lately.</p>}
        <ul class="lanes">
          {busy.map((lane) => (
            <LaneCard key={`${lane.controller} ${lane.queue}`} lane={lane} />
          ))}
        </ul>
        {idle.length > 0 && <IdleLanes lanes={idle} />}
      </section>
      <Caches caches={caches} />
    </>
  );
}

/** Any key now, or any work in the time of the samples: a lane must not jump to and fro with each key. */
function isBusy({ waitingCount, delayedCount, running, depths, latenciesMs }: Lane): boolean {
  const isNonZero = (value: number): boolean => value > 0;
  return waitingCount + delayedCount + running.length > 0 || depths.some(isNonZero) || latenciesMs.some(isNonZero);
}

function LeaseCard({ lease }: { lease: LeaseState }): VNode {
  const { name, holder, isOurs, renewedAgoMs, durationMs } = lease;
  return (
    <section class="card lease" aria-label="Lease">
      <Mark state={holder === '' ? 'bad' : 'good'} />
      <div>
        <h2>{describeHolder(lease)}</h2>
        <p class="muted">
          {holder !== '' && !isOurs && <>Held by {holder}. </>}
          Lease {name}, valid for {formatSeconds(durationMs / 1000)}
          {renewedAgoMs !== undefined && <>, renewed {formatAgo(renewedAgoMs)}</>}
        </p>
      </div>
    </section>
  );
}

function describeHolder({ holder, isOurs }: LeaseState): string {
  if (holder === '') return 'Nobody holds the lease';
  return isOurs ? 'This process leads' : 'Another process leads';
}

function IdleLanes({ lanes }: { lanes: readonly Lane[] }): VNode {
  return (
    <details class="card idle">
      <summary>{plural(lanes.length, 'idle queue')}</summary>
      <ul class="rows">
        {lanes.map((lane) => (
          <li key={`${lane.controller} ${lane.queue}`} class="idle-lane">
            <span>
              {lane.controller}
              {!lane.controller.startsWith(lane.queue) && <span class="muted"> {lane.queue}</span>}
            </span>
            <span class="muted">{describeCounts(lane)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function describeCounts({ added, done, conflicts, failed }: Lane): string {
  const parts = [`${formatCount(added)} added`, `${formatCount(done)} done`];
  if (conflicts > 0) parts.push(plural(conflicts, 'conflict'));
  if (failed > 0) parts.push(`${formatCount(failed)} failed`);
  return parts.join(', ');
}

function Caches({ caches }: { caches: readonly CacheState[] }): VNode | null {
  if (caches.length === 0) return null;
  return (
    <section aria-label="Caches">
      <h2>
        Caches <span class="count">{formatCount(caches.length)}</span>
      </h2>
      <ul class="caches">
        {caches.map(({ name, size, synced, changedAgoMs }) => (
          <li key={name} class="card cache">
            <Mark state={synced ? 'good' : 'busy'} />
            <span class="name">{name}</span>
            <span class="figure">{formatCount(size)}</span>
            <span class="muted">{describeChange(synced, changedAgoMs)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function describeChange(synced: boolean, changedAgoMs: number | undefined): string {
  if (!synced) return 'not synced';
  return changedAgoMs === undefined ? 'no change yet' : `changed ${formatAgo(changedAgoMs)}`;
}
