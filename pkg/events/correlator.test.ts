import { describe, expect, test } from 'vitest';

import { Pods } from '../api/index.ts';
import { correlate, createCorrelatorState, type Correlation } from './correlator.ts';
import { composeEvent, type EventDraft } from './event-object.ts';

let drafts = 0;
function draft(
  message: string,
  changes: { pod?: string; reason?: string; type?: 'Normal' | 'Warning' } = {},
): EventDraft {
  const { pod = 'p', reason = 'Failed', type = 'Warning' } = changes;
  drafts += 1;
  const about = { metadata: { namespace: 'a', name: pod, uid: `uid-${pod}` } };
  return composeEvent(Pods, about, { type, reason, message }, { component: 'c', name: `${pod}.${drafts}`, nowMs: 0 });
}
const kinds = (correlations: readonly Correlation[]): string => correlations.map(({ kind }) => kind).join(' ');

describe('correlate', () => {
  test('a repeated event increases the count under its first name and time', () => {
    const state = createCorrelatorState();
    const first = draft('m');
    expect(correlate(state, first, 0)).toEqual({ kind: 'create', event: first });
    const second = { ...draft('m'), firstTimestamp: '1970-01-01T00:00:05Z', lastTimestamp: '1970-01-01T00:00:05Z' };
    expect(correlate(state, second, 5000)).toEqual({
      kind: 'patch',
      event: { ...first, lastTimestamp: '1970-01-01T00:00:05Z', count: 2 },
      patch: { count: 2, lastTimestamp: '1970-01-01T00:00:05Z', message: 'm' },
    });
    expect(correlate(state, draft('m'), 6000)).toMatchObject({ kind: 'patch', patch: { count: 3 } });
  });

  const apart = [
    { name: 'another message', other: draft('n') },
    { name: 'another reason', other: draft('m', { reason: 'Killed' }) },
    { name: 'another type', other: draft('m', { type: 'Normal' }) },
    { name: 'another object', other: draft('m', { pod: 'q' }) },
    { name: 'another component', other: { ...draft('m'), source: { component: 'd' } } },
    {
      name: 'another field',
      other: { ...draft('m'), involvedObject: { ...draft('m').involvedObject, fieldPath: 'f' } },
    },
  ];
  for (const { name, other } of apart) {
    test(`${name} makes it another event`, () => {
      const state = createCorrelatorState();
      correlate(state, draft('m'), 0);
      expect(correlate(state, other, 0)).toEqual({ kind: 'create', event: other });
    });
  }

  test('the tenth different message and all later ones are combined into one event', () => {
    const state = createCorrelatorState();
    const before = Array.from({ length: 9 }, (_, index) => correlate(state, draft(`m${index}`), 0));
    expect(kinds(before)).toBe(Array(9).fill('create').join(' '));
    const tenth = correlate(state, draft('m9'), 0);
    expect(tenth).toMatchObject({
      kind: 'create',
      event: { message: '(combined from similar events): m9', count: 1, source: { component: 'c' } },
    });
    expect(tenth).not.toHaveProperty('event.reportingComponent');
    expect(correlate(state, draft('m10'), 0)).toMatchObject({
      kind: 'patch',
      patch: { count: 2, message: '(combined from similar events): m10' },
    });
  });

  const pauses = [
    { name: 'events with a pause of ten minutes are combined', pauseMs: 600_000, message: /^\(combined/ },
    { name: 'a longer pause starts over', pauseMs: 600_001, message: /^m9$/ },
  ];
  for (const { name, pauseMs, message } of pauses) {
    test(name, () => {
      const state = createCorrelatorState();
      for (let index = 0; index < 9; index += 1) correlate(state, draft(`m${index}`), 0);
      const next = correlate(state, draft('m9'), pauseMs);
      expect(next.kind === 'skip' ? '' : next.event.message).toMatch(message);
    });
  }

  test('after 25 events about one object the rest are skipped, then one is written every five minutes', () => {
    const state = createCorrelatorState();
    const burst = Array.from({ length: 30 }, () => correlate(state, draft('m'), 0));
    expect(kinds(burst)).toBe(['create', ...Array(24).fill('patch'), ...Array(5).fill('skip')].join(' '));
    expect(correlate(state, draft('m'), 299_999).kind).toBe('skip');
    // Skipped events were counted too.
    expect(correlate(state, draft('m'), 300_001)).toMatchObject({ kind: 'patch', patch: { count: 32 } });
    expect(correlate(state, draft('m', { pod: 'q' }), 300_001).kind).toBe('create');
    expect(correlate(state, draft('m', { type: 'Normal' }), 300_001).kind).toBe('create');
  });

  test('remembers no more than 4096 objects', () => {
    const state = createCorrelatorState();
    for (let pod = 0; pod < 5000; pod += 1) correlate(state, draft('m', { pod: `p${pod}` }), 0);
    expect([state.similar.size, state.spam.size, state.written.size]).toEqual([4096, 4096, 4096]);
    expect(correlate(state, draft('m', { pod: 'p0' }), 0).kind).toBe('create');
    expect(correlate(state, draft('m', { pod: 'p4999' }), 0).kind).toBe('patch');
  });
});
