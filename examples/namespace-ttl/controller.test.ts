import { describe, expect, test } from 'vitest';

import { Namespaces } from '../../index.ts';
import { build, creationTime, simulate } from '../../testing.ts';
import { expiryOf, namespaceTtlController } from './controller.ts';

const annotation = 'namespace-ttl.example.com/expires-after';
const namespace = (ttl?: string) =>
  build(Namespaces, { name: 'preview', ...(ttl !== undefined && { annotations: { [annotation]: ttl } }) }, {});

describe('a namespace', () => {
  test('is deleted when it expires, and not before', async () => {
    await using run = await simulate(namespaceTtlController, [namespace('8h')]);
    const kept = await run.client.get(Namespaces, namespace());
    expect(kept.metadata.annotations?.['namespace-ttl.example.com/expires-at']).toBe('2026-01-01T08:00:00.000Z');
    await run.clock.advance(8 * 3_600_000 - 1000);
    expect(await run.client.find(Namespaces, namespace())).toBeDefined();
    await run.clock.advance(2000);
    await run.settle();
    expect(await run.client.find(Namespaces, namespace())).toBeUndefined();
    expect(run.events.at(-1)?.reason).toBe('Expired');
  });

  test('is kept when its annotation is removed', async () => {
    await using run = await simulate(namespaceTtlController, [namespace('8h')]);
    await run.client.patch(Namespaces, namespace(), { metadata: { annotations: { [annotation]: null } } });
    await run.settle();
    await run.clock.advance(9 * 3_600_000);
    await run.settle();
    expect(await run.client.find(Namespaces, namespace())).toBeDefined();
  });

  test('is kept, with a warning, if its annotation is not valid', async () => {
    await using run = await simulate(namespaceTtlController, [namespace('tomorrow')]);
    expect(run.events).toMatchObject([{ type: 'Warning', reason: 'InvalidTTL' }]);
    expect(run.writes).toEqual([]);
  });
});

describe('expiryOf', () => {
  const createdMs = Date.parse(creationTime);
  for (const [text, expected] of [
    ['90s', createdMs + 90_000],
    ['30m', createdMs + 1_800_000],
    ['7d', createdMs + 604_800_000],
    ['0s', createdMs],
    ['-1h', undefined],
    ['1w', undefined],
    ['', undefined],
  ] as const) {
    test(`${text}: ${String(expected)}`, () => expect(expiryOf(namespace(), text)).toBe(expected));
  }
});
