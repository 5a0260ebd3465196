import type { VNode } from 'preact';

import type { Item } from '../protocol.ts';
import { memo } from './memo.tsx';
import { Mark } from './parts.tsx';
import { hrefOfObject } from './route.ts';
import { plural } from './words.ts';

/** Above this number, pods of one owner are drawn as squares. */
const mostChips = 40;

interface PodsProps {
  readonly pods: readonly Item[];
  /** The name of the owner, which the names of its pods begin with. */
  readonly ownerName: string;
}

/** The pods of one owner. */
export function Pods({ pods, ownerName }: PodsProps): VNode | null {
  if (pods.length === 0) return null;
  if (pods.length <= mostChips) {
    return (
      <ul class="chips">
        {pods.map((pod) => (
          <PodChip key={pod.id} pod={pod} ownerName={ownerName} />
        ))}
      </ul>
    );
  }
  return (
    <ul class="squares" aria-label={`${plural(pods.length, 'pod')} of ${ownerName}`}>
      {pods.map((pod, index) => (
        <PodSquare key={pod.id} pod={pod} isFirst={index === 0} />
      ))}
    </ul>
  );
}

const PodChip = memo(({ pod, ownerName }: { pod: Item; ownerName: string }): VNode => {
  const prefix = pod.name.startsWith(`${ownerName}-`) ? `${ownerName}-` : '';
  return (
    <li>
      <a class={`chip ${pod.state}`} href={hrefOfObject(pod)} title={describePod(pod)} data-pod={pod.id}>
        <Mark state={pod.state} />
        <span class="chip-name">
          <span class="unseen">{prefix}</span>
          {pod.name.slice(prefix.length)}
        </span>
        {pod.state === 'good' ? <span class="unseen">{pod.text}</span> : <span class="chip-text">{pod.text}</span>}
        {pod.node !== undefined && <span class="chip-node">{pod.node}</span>}
      </a>
    </li>
  );
});

const PodSquare = memo(({ pod, isFirst }: { pod: Item; isFirst: boolean }): VNode => {
  const description = describePod(pod);
  return (
    <li>
      <a
        class="square"
        href={hrefOfObject(pod)}
        title={description}
        aria-label={description}
        data-pod={pod.id}
        tabIndex={isFirst ? 0 : -1}
      >
        <Mark state={pod.state} />
      </a>
    </li>
  );
});

function describePod({ name, text, node }: Item): string {
  return node === undefined ? `${name}: ${text}` : `${name} on ${node}: ${text}`;
}

/**
 * What all pods below an element share, in one listener instead of a thousand: arrow keys, and marks while the pointer or
 * the focus is on one of them. Returns a function that ends it.
 */
export function handlePods(root: Element): () => void {
  const handlers = [
    ['keydown', moveFocus],
    ...['pointerover', 'pointerout', 'focusin', 'focusout'].map((type) => [type, markPod] as const),
  ] as const;
  for (const [type, handler] of handlers) root.addEventListener(type, handler);
  return () => {
    for (const [type, handler] of handlers) root.removeEventListener(type, handler);
  };
}

const steps: ReadonlyMap<string, number> = new Map([
  ['ArrowRight', 1],
  ['ArrowDown', 1],
  ['ArrowLeft', -1],
  ['ArrowUp', -1],
]);

/** Squares are one stop for the Tab key, and arrow keys move inside: nobody wants to press Tab a thousand times. */
function moveFocus(event: Event): void {
  const step = event instanceof KeyboardEvent ? steps.get(event.key) : undefined;
  if (step === undefined || !(event.target instanceof HTMLElement)) return;
  const item = event.target.closest('.squares > li');
  const next = step > 0 ? item?.nextElementSibling : item?.previousElementSibling;
  const link = next?.firstElementChild;
  if (!(link instanceof HTMLElement)) return;
  event.preventDefault();
  link.focus();
}

/**
 * Marks the pod wherever it is drawn: below its owner, on its node and behind its Service. `data-linked` is not an
 * attribute that components set, so that drawing again leaves it alone.
 */
function markPod({ target, type, currentTarget }: Event): void {
  if (!(target instanceof Element) || !(currentTarget instanceof Element)) return;
  for (const element of currentTarget.querySelectorAll('[data-linked]')) element.removeAttribute('data-linked');
  const id = target.closest('[data-pod]')?.getAttribute('data-pod') ?? '';
  if (id === '' || type === 'pointerout' || type === 'focusout') return;
  const same = currentTarget.querySelectorAll(`[data-pod="${CSS.escape(id)}"]`);
  for (const element of same) element.setAttribute('data-linked', '');
}
