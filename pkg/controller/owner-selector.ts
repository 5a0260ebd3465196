import { keyOf, type Cached, type Kind, type KubeObject, type Selector } from '../api/index.ts';
import { TerminalError } from './reconcile.ts';

/** The selector of the owner being synced. An invalid selector is a `TerminalError`: only its author can fix it. */
export function usableSelector<T extends KubeObject>(kind: Kind<T>, owner: Cached<T>, read: () => Selector): Selector {
  try {
    return read();
  } catch (error) {
    throw new TerminalError(`${kind.kind} ${keyOf(owner)} has an unusable selector`, { cause: error });
  }
}

/** The selector of one of several possible owners. An invalid one selects nothing; the owner's own sync reports it. */
export function selectorOrNone(read: () => Selector): Selector {
  try {
    return read();
  } catch {
    return () => false;
  }
}
