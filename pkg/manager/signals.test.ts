import { describe, expect, test, vi } from 'vitest';

import { GracefulStop } from '../controller/index.ts';
import { gracefulSignal, interrupted, stopOnSignals } from './signals.ts';

describe('stopOnSignals', () => {
  test('aborts on the first signal, exits on the second, and leaves no listener', () => {
    const before = process.listenerCount('SIGTERM') + process.listenerCount('SIGINT');
    const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
    try {
      using stop = stopOnSignals();
      process.emit('SIGTERM', 'SIGTERM');
      expect(stop.signal.reason).toMatchObject({ message: 'received SIGTERM' });
      expect(exit).not.toHaveBeenCalled();
      process.emit('SIGINT', 'SIGINT');
      expect(exit).toHaveBeenCalledWith(interrupted);
    } finally {
      exit.mockRestore();
    }
    expect(process.listenerCount('SIGTERM') + process.listenerCount('SIGINT')).toBe(before);
  });
});

describe('gracefulSignal', () => {
  const leaseLost = new AbortController().signal;
  const rows: readonly { name: string; limitMs: number; graceMs: number }[] = [
    { name: 'lets work go on for the limit', limitMs: 5000, graceMs: 5000 },
    { name: 'lets work go on without end if the limit is 0', limitMs: 0, graceMs: Number.POSITIVE_INFINITY },
  ];
  for (const { name, limitMs, graceMs } of rows) {
    test(name, async () => {
      await using stack = new AsyncDisposableStack();
      const asked = new AbortController();
      const stopping = gracefulSignal(asked.signal, { limitMs, leaseLost }, stack);
      expect(stopping.aborted).toBe(false);
      asked.abort();
      expect(stopping.reason).toBeInstanceOf(GracefulStop);
      expect(stopping.reason).toMatchObject({ graceMs, leaseLost });
    });
  }

  test('is aborted from the start if it is too late already', async () => {
    await using stack = new AsyncDisposableStack();
    expect(gracefulSignal(AbortSignal.abort(), { limitMs: 1, leaseLost }, stack).aborted).toBe(true);
  });
});
