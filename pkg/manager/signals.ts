import { GracefulStop } from '../controller/index.ts';
import { AbortedError } from '../time/index.ts';

/** The exit code of a process that a second signal ended: 128 plus the number of SIGINT, as shells report it. */
export const interrupted = 130;

export interface StopSignal extends Disposable {
  readonly signal: AbortSignal;
}

/** Aborts on SIGTERM and SIGINT. A second one ends the process at once. */
export function stopOnSignals(): StopSignal {
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    if (stop.signal.aborted) process.exit(interrupted);
    stop.abort(new AbortedError(`received ${name}`));
  };
  const names = ['SIGTERM', 'SIGINT'] as const;
  for (const name of names) process.on(name, onSignal);
  return {
    signal: stop.signal,
    [Symbol.dispose]() {
      for (const name of names) process.removeListener(name, onSignal);
    },
  };
}

/** A stop that lets controllers finish their work, for `limitMs`; 0 is no limit. */
export function gracefulSignal(
  signal: AbortSignal,
  { limitMs, leaseLost }: { readonly limitMs: number; readonly leaseLost: AbortSignal },
  stack: AsyncDisposableStack,
): AbortSignal {
  const stopping = new AbortController();
  const graceMs = limitMs > 0 ? limitMs : Number.POSITIVE_INFINITY;
  const onAbort = (): void => stopping.abort(new GracefulStop(graceMs, leaseLost));
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  stack.defer(() => signal.removeEventListener('abort', onAbort));
  return stopping.signal;
}
