import type { VNode } from 'preact';

import type { ItemState, ObjectPage, ReconcileRecord, RecordOutcome, RequestLine } from '../protocol.ts';
import { memo } from './memo.tsx';
import { Mark } from './parts.tsx';
import { formatDuration, formatTime } from './words.ts';

/** The reconciles of an object, newest first. */
export function History({ page: { history, recordedSinceMs } }: { page: ObjectPage }): VNode {
  return (
    <section class="history" aria-label="Reconciles">
      <h2>Reconciles</h2>
      <p class="muted">
        Newest first, since {formatTime(recordedSinceMs)}. What was read, decided and sent is recorded while somebody
        looks.
      </p>
      {history.length === 0 && <p class="empty">None since then. Change the object, and its reconciles appear here.</p>}
      <ol class="records">
        {history.map((record) => (
          <Record key={record.id} record={record} />
        ))}
      </ol>
    </section>
  );
}

const outcomeStates: Readonly<Record<RecordOutcome, ItemState>> = {
  running: 'busy',
  success: 'good',
  requeue_after: 'good',
  conflict: 'busy',
  error: 'bad',
  terminal_error: 'bad',
};

const Record = memo(({ record }: { record: ReconcileRecord }): VNode => {
  const { controller, startedMs, durationMs, outcome, error, reads, plan, requests } = record;
  // Most errors are refused requests: the request itself shows the message.
  const isToldByRequest = requests.some(({ message }) => message !== undefined && error?.includes(message) === true);
  const didNothing = plan.length === 0 && requests.length === 0;
  return (
    <li class={`card record ${outcomeStates[outcome]}`}>
      <div class="record-head">
        <Mark state={outcomeStates[outcome]} />
        <h3>{controller}</h3>
        <span class="outcome">{describeOutcome(record)}</span>
        <span class="muted">
          {formatTime(startedMs)}
          {outcome !== 'running' && <>, took {formatDuration(durationMs)}</>}
        </span>
      </div>
      {error !== undefined && !isToldByRequest && <p class="error">{error}</p>}
      <dl>
        {!didNothing && <Reads reads={reads} />}
        {plan.length > 0 && (
          <div>
            <dt>Decided</dt>
            {plan.map((step, index) => (
              <dd key={index}>{step}</dd>
            ))}
          </div>
        )}
        {requests.length > 0 && (
          <div>
            <dt>Sent</dt>
            {requests.map((request, index) => (
              <Request key={index} request={request} />
            ))}
          </div>
        )}
      </dl>
      {didNothing && reads.length > 0 && (
        <details>
          <summary>{outcome === 'running' ? 'What it read' : 'Nothing to do. What it read'}</summary>
          <dl>
            <Reads reads={reads} />
          </dl>
        </details>
      )}
    </li>
  );
});

function describeOutcome({ outcome, requeueAfterMs }: ReconcileRecord): string {
  switch (outcome) {
    case 'running':
      return 'running';
    case 'success':
      return 'success';
    case 'requeue_after':
      return requeueAfterMs === undefined ? 'requeued' : `requeue after ${formatDuration(requeueAfterMs)}`;
    case 'conflict':
      return 'conflict, tried again';
    case 'error':
      return 'error, tried again with back-off';
    case 'terminal_error':
      return 'error, not tried again';
  }
}

function Reads({ reads }: { reads: readonly string[] }): VNode | null {
  if (reads.length === 0) return null;
  return (
    <div>
      <dt>Read</dt>
      {reads.map((read, index) => (
        <dd key={index}>{read}</dd>
      ))}
    </div>
  );
}

function Request({ request: { attempted, code, durationMs, message } }: { request: RequestLine }): VNode {
  return (
    <dd>
      <span class={code.startsWith('2') ? 'code' : 'code refused'}>{code}</span> {attempted}{' '}
      <span class="muted">{formatDuration(durationMs)}</span>
      {message !== undefined && <p class="error">{message}</p>}
    </dd>
  );
}
