import type { ComponentChildren, VNode } from 'preact';

import type { DelayedKey, Lane } from '../protocol.ts';
import { ObjectLink } from './parts.tsx';
import { objectOfKey } from './route.ts';
import { Sparkline } from './sparkline.tsx';
import { formatCount, formatDuration, formatSeconds } from './words.ts';

/** One queue and its workers: from the events on the left to the results on the right. */
export function LaneCard({ lane }: { lane: Lane }): VNode {
  const { controller, queue, resource, added, waiting, waitingCount, delayed, delayedCount, running } = lane;
  return (
    <li class="card lane">
      <div class="lane-head">
        <h3>
          {controller}
          {!controller.startsWith(queue) && <span class="muted"> {queue}</span>}
        </h3>
        <Charts lane={lane} />
      </div>
      <ol class="flow">
        <Stage title="Added" figure={added} />
        <Stage title="Waiting" figure={waitingCount} isLive={waitingCount > 0}>
          <Keys all={waitingCount} keys={waiting.map((key) => ({ key, note: '' }))} resource={resource} />
        </Stage>
        <Stage title="Running" figure={running.length} isLive={running.length > 0}>
          <Keys
            all={running.length}
            keys={running.map(({ key, forMs }) => ({ key, note: formatDuration(forMs) }))}
            resource={resource}
          />
        </Stage>
        <Results lane={lane} />
        <Stage title="Delayed" figure={delayedCount} isLive={delayed.some(({ retries }) => retries > 0)}>
          <Keys
            all={delayedCount}
            keys={delayed.map((each) => ({ key: each.key, note: describeDelay(each) }))}
            resource={resource}
          />
        </Stage>
      </ol>
    </li>
  );
}

function Charts({ lane: { depths, latenciesMs, sampleMs } }: { lane: Lane }): VNode {
  const span = formatSeconds((Math.max(depths.length, latenciesMs.length) * sampleMs) / 1000);
  const deepest = Math.max(0, ...depths);
  const latency = latenciesMs.findLast((ms) => ms > 0) ?? 0;
  return (
    <div class="charts">
      <figure>
        <Sparkline values={depths} label={`Keys waiting in the last ${span}: at most ${formatCount(deepest)}`} />
        <figcaption>depth, at most {formatCount(deepest)}</figcaption>
      </figure>
      <figure class="latency">
        <Sparkline
          values={latenciesMs}
          label={`Mean duration of a reconcile in the last ${span}: now ${formatDuration(latency)}`}
        />
        <figcaption>latency, {formatDuration(latency)}</figcaption>
      </figure>
    </div>
  );
}

interface StageProps {
  readonly title: string;
  readonly figure: number;
  readonly isLive?: boolean;
  readonly children?: ComponentChildren;
}

function Stage({ title, figure, isLive = false, children }: StageProps): VNode {
  return (
    <li class={isLive ? 'stage live' : 'stage'}>
      <span class="stage-title">{title}</span>
      <span class="figure">{formatCount(figure)}</span>
      {children}
    </li>
  );
}

function Results({ lane: { done, conflicts, failed } }: { lane: Lane }): VNode {
  return (
    <Stage title="Done" figure={done}>
      {conflicts > 0 && <span class="muted">{formatCount(conflicts)} conflicts</span>}
      {failed > 0 && <span class="failed">{formatCount(failed)} failed</span>}
    </Stage>
  );
}

function describeDelay({ dueInMs, retries }: DelayedKey): string {
  const due = dueInMs <= 0 ? 'due' : `in ${formatSeconds(Math.ceil(dueInMs / 1000))}`;
  return retries === 0 ? due : `retry ${retries} ${due}`;
}

/** More are only counted: a lane is for a glance. */
const mostKeys = 4;

interface KeysProps {
  readonly all: number;
  readonly keys: readonly { readonly key: string; readonly note: string }[];
  readonly resource: string | undefined;
}

function Keys({ all, keys, resource }: KeysProps): VNode | null {
  if (keys.length === 0) return null;
  const shown = keys.slice(0, mostKeys);
  return (
    <ul class="keys">
      {shown.map(({ key, note }) => (
        <li key={key}>
          <KeyLink resource={resource} text={key} /> {note !== '' && <span class="muted">{note}</span>}
        </li>
      ))}
      {all > shown.length && <li class="muted">and {formatCount(all - shown.length)} more</li>}
    </ul>
  );
}

function KeyLink({ resource, text }: { resource: string | undefined; text: string }): VNode {
  const object = resource === undefined ? undefined : objectOfKey(resource, text);
  return object === undefined ? <span>{text}</span> : <ObjectLink object={object} label={text} />;
}
