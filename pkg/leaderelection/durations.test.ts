import { describe, expect, test } from 'vitest';

import { checkDurations } from './durations.ts';

const rows = [
  { name: 'accepts the defaults', seconds: [15, 10, 2], error: undefined },
  { name: 'accepts short ones', seconds: [3, 2, 0.5], error: undefined },
  {
    name: 'refuses a lease as short as the deadline',
    seconds: [10, 10, 2],
    error:
      'invalid value "10s" for --leader-elect-lease-duration: must be greater, in whole seconds, than --leader-elect-renew-deadline',
  },
  {
    name: 'refuses a deadline within the fraction of a second that the lease cannot hold',
    seconds: [10.9, 10.5, 2],
    error:
      'invalid value "10.9s" for --leader-elect-lease-duration: must be greater, in whole seconds, than --leader-elect-renew-deadline',
  },
  {
    name: 'refuses a deadline that leaves no time to retry',
    seconds: [15, 2.4, 2],
    error:
      'invalid value "2.4s" for --leader-elect-renew-deadline: must be greater than 1.2 times --leader-elect-retry-period',
  },
  {
    name: 'refuses a retry period of zero',
    seconds: [15, 10, 0],
    error: 'invalid value "0s" for --leader-elect-retry-period: must be greater than zero',
  },
  {
    name: 'refuses a negative deadline',
    seconds: [15, -1, 2],
    error: 'invalid value "-1s" for --leader-elect-renew-deadline: must be greater than zero',
  },
  {
    name: 'refuses a lease shorter than the API allows',
    seconds: [0.9, 0.5, 0.1],
    error: 'invalid value "900ms" for --leader-elect-lease-duration: must be at least one second',
  },
] as const;

function messageOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe('checkDurations', () => {
  for (const { name, seconds, error } of rows) {
    test(name, () => {
      const [lease, renew, retry] = seconds;
      const check = (): void =>
        checkDurations({ leaseDurationMs: lease * 1000, renewDeadlineMs: renew * 1000, retryPeriodMs: retry * 1000 });
      expect(messageOf(check)).toBe(error);
    });
  }
});
