/** Small parts that several views use. */
import type { VNode } from 'preact';

import type { Item, ItemState } from '../protocol.ts';
import { hrefOfObject, type ObjectPath } from './route.ts';

const stateNames: Readonly<Record<ItemState, string>> = { good: 'good', busy: 'busy', bad: 'bad', ended: 'ended' };

/** A state by colour and by shape: a disc, a ring, a triangle, a bar. A new element per state, so that it animates. */
export function Mark({ state, named = false }: { state: ItemState; named?: boolean }): VNode {
  return (
    <span key={state} class={`mark ${state}`} aria-hidden={named ? undefined : 'true'}>
      {named && <span class="unseen">{stateNames[state]}</span>}
    </span>
  );
}

export function ObjectLink({ object, label }: { object: ObjectPath; label?: string | undefined }): VNode {
  return <a href={hrefOfObject(object)}>{label ?? nameOf(object)}</a>;
}

/** `namespace/name`, or the name alone. */
export function nameOf({ namespace, name }: Pick<Item, 'namespace' | 'name'>): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
