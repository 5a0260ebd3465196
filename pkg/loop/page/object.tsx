import type { ComponentChildren, VNode } from 'preact';

import type { ConditionLine, EventLine, Item, ObjectPage, TryAction, Wait } from '../protocol.ts';
import { describeWait, explain, isUnmet } from './explain.ts';
import { History } from './history.tsx';
import { Mark, nameOf, ObjectLink } from './parts.tsx';
import { type ObjectPath, pathOfObject } from './route.ts';
import { type Received, useNow } from './stream.ts';
import { Tries } from './tries.tsx';
import { formatAgo, formatCount } from './words.ts';

interface ObjectViewProps {
  readonly path: ObjectPath;
  readonly object: Received<ObjectPage> | undefined;
  readonly tries: readonly TryAction[];
}

/** Why an object is as it is. */
export function ObjectView({ path, object, tries }: ObjectViewProps): VNode {
  const page = object?.value;
  return (
    <>
      <nav class="owners" aria-label="Owners">
        <ol>
          {(page?.owners ?? []).toReversed().map((owner) => (
            <li key={owner.id}>
              <span class="kind">{owner.kind}</span> <ObjectLink object={owner} label={owner.name} />
            </li>
          ))}
        </ol>
      </nav>
      <div class="view-head">
        <h1 tabIndex={-1}>
          <span class="kind">{page?.kind ?? path.resource}</span> {nameOf(path)}
        </h1>
        <a class="text-form" href={`./${pathOfObject(path)}?format=text`}>
          As text
        </a>
      </div>
      {object === undefined ? <p class="empty">Waiting for the object…</p> : <Facts object={object} tries={tries} />}
    </>
  );
}

function Facts({ object, tries }: { object: Received<ObjectPage>; tries: readonly TryAction[] }): VNode {
  const page = object.value;
  const elapsedMs = Math.max(0, useNow() - object.atMs);
  const { state, sentence } = explain(page, elapsedMs);
  return (
    <>
      <p class={`why ${state}`}>
        <Mark state={state} named />
        <span>{sentence}</span>
      </p>
      <Tries actions={tries.filter(({ resources }) => resources.includes(page.resource))} object={pathOf(page)} />
      <div class="columns">
        <History page={page} />
        <div class="aside">
          <Waits waits={page.waits} elapsedMs={elapsedMs} />
          <Conditions conditions={page.conditions} />
          <Owned owned={page.owned} />
          <Events events={page.events} />
        </div>
      </div>
    </>
  );
}

function pathOf({ resource, namespace, name }: ObjectPage): ObjectPath {
  return { resource, namespace, name };
}

function Panel({ title, children }: { title: string; children: ComponentChildren }): VNode {
  return (
    <section class="card panel" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Waits({ waits, elapsedMs }: { waits: readonly Wait[]; elapsedMs: number }): VNode {
  return (
    <Panel title="Waits for">
      {waits.length === 0 && <p class="muted">No key of it is in a queue.</p>}
      <ul class="rows">
        {waits.map((wait) => (
          <li key={`${wait.controller} ${wait.state}`} class="row">
            <Mark state={wait.retries > 0 ? 'bad' : 'busy'} />
            <span>{describeWait(wait, elapsedMs)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Conditions({ conditions }: { conditions: readonly ConditionLine[] }): VNode | null {
  if (conditions.length === 0) return null;
  return (
    <Panel title="Conditions">
      <ul class="rows">
        {conditions.map((condition) => (
          <li key={condition.type} class="row">
            <Mark state={isUnmet(condition) ? 'bad' : 'good'} />
            <div>
              <strong>
                {condition.type}: {condition.status}
              </strong>{' '}
              {condition.reason !== '' && <span class="reason">{condition.reason}</span>}
              {condition.message !== '' && <p>{condition.message}</p>}
              <Since time={condition.since} />
            </div>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** More are only counted. */
const mostOwned = 50;

function Owned({ owned }: { owned: readonly Item[] }): VNode | null {
  if (owned.length === 0) return null;
  return (
    <Panel title="Owns">
      <ul class="rows">
        {owned.slice(0, mostOwned).map((item) => (
          <li key={item.id} class="row">
            <Mark state={item.state} />
            <div>
              <span class="kind">{item.kind}</span> <ObjectLink object={item} label={item.name} />
              <p class="muted">{item.text}</p>
            </div>
          </li>
        ))}
        {owned.length > mostOwned && <li class="muted">and {formatCount(owned.length - mostOwned)} more</li>}
      </ul>
    </Panel>
  );
}

function Events({ events }: { events: readonly EventLine[] }): VNode | null {
  if (events.length === 0) return null;
  return (
    <Panel title="Events">
      <ul class="rows">
        {events.map((event) => (
          <li key={`${event.reason} ${event.message} ${event.source}`} class="row">
            <Mark state={event.type === 'Normal' ? 'good' : 'bad'} />
            <div>
              <strong>{event.reason}</strong>{' '}
              {event.count > 1 && <span class="muted">× {formatCount(event.count)}</span>}
              <p>{event.message}</p>
              <p class="muted">{event.source}</p>
              <Since time={event.last} />
            </div>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Since({ time }: { time: string }): VNode | null {
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) return null;
  return (
    <time class="muted" dateTime={time}>
      {formatAgo(Date.now() - ms)}
    </time>
  );
}
