import { keyOf, type Cached, type Kind, type KubeObject, type Selector } from '../api/index.ts';
import { TerminalError } from './reconcile.ts';

/** The selector of an owner that is looked at. One that cannot be used is for its author to mend: no retry will. */
export function usableSelector<T extends KubeObject>(kind: Kind<T>, owner: Cached<T>, read: () => Selector): Selector {
  try {
    return read();
  } catch (error) {
    throw new TerminalError(`${kind.kind} ${keyOf(owner)} has an unusable selector`, { cause: error });
  }
}

/** The selector of an owner that is one of many: it selects nothing if it cannot be used, which its own look reports. */
export function selectorOrNone(read: () => Selector): Selector {
  try {
    return read();
  } catch {
    return () => false;
  }
}
