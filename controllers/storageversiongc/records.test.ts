import { describe, expect, test } from 'vitest';

import { StorageVersions, type StorageVersion } from '../../pkg/api/index.ts';
import { build, frozen } from '../../test/support/builders.ts';
import { planRecords } from './records.ts';

const nowMs = Date.UTC(2026, 0, 2);
const now = '2026-01-02T00:00:00Z';
const earlier = '2026-01-01T00:00:00Z';
const record = (apiServerID: string, encodingVersion: string) => ({
  apiServerID,
  encodingVersion,
  decodableVersions: [encodingVersion],
});
const equal = (lastTransitionTime: string) => ({
  type: 'AllEncodingVersionsEqual',
  status: 'True',
  reason: 'CommonEncodingVersionSet',
  message: 'Common encoding version set',
  observedGeneration: 2,
  lastTransitionTime,
});
const unequal = (lastTransitionTime: string) => ({
  ...equal(lastTransitionTime),
  status: 'False',
  reason: 'CommonEncodingVersionUnset',
  message: 'Common encoding version unset',
});
const other = { type: 'Other', status: 'True', reason: '', message: '', lastTransitionTime: earlier };

interface Row {
  readonly name: string;
  readonly status: object | undefined;
  readonly gone: readonly string[];
  readonly expected: object;
}

describe('planRecords', () => {
  const rows: readonly Row[] = [
    {
      name: 'keeps records of servers that are there',
      status: { storageVersions: [record('a', 'v1')] },
      gone: [],
      expected: { kind: 'keep' },
    },
    { name: 'keeps an object without records', status: undefined, gone: ['a'], expected: { kind: 'keep' } },
    {
      name: 'deletes an object with no record left',
      status: { storageVersions: [record('a', 'v1'), record('b', 'v1')] },
      gone: ['a', 'b'],
      expected: { kind: 'delete' },
    },
    {
      name: 'removes a record, and says that the others agree',
      status: { storageVersions: [record('a', 'v1'), record('b', 'v2')], conditions: [unequal(earlier), other] },
      gone: ['a'],
      expected: {
        kind: 'update',
        status: { storageVersions: [record('b', 'v2')], commonEncodingVersion: 'v2', conditions: [equal(now), other] },
      },
    },
    {
      name: 'keeps the time of a condition that does not change',
      status: {
        commonEncodingVersion: 'v1',
        storageVersions: [record('a', 'v1'), record('b', 'v1')],
        conditions: [equal(earlier)],
      },
      gone: ['b'],
      expected: {
        kind: 'update',
        status: { storageVersions: [record('a', 'v1')], commonEncodingVersion: 'v1', conditions: [equal(earlier)] },
      },
    },
    {
      name: 'counts another common version as a transition',
      status: {
        commonEncodingVersion: 'v1',
        storageVersions: [record('a', 'v2'), record('b', 'v1')],
        conditions: [equal(earlier)],
      },
      gone: ['b'],
      expected: {
        kind: 'update',
        status: { storageVersions: [record('a', 'v2')], commonEncodingVersion: 'v2', conditions: [equal(now)] },
      },
    },
    {
      name: 'says that the others do not agree',
      status: { storageVersions: [record('a', 'v1'), record('b', 'v2'), record('c', 'v3')], conditions: [other] },
      gone: ['c'],
      expected: {
        kind: 'update',
        status: { storageVersions: [record('a', 'v1'), record('b', 'v2')], conditions: [other, unequal(now)] },
      },
    },
  ];
  for (const { name, status, gone, expected } of rows) {
    test(name, () => {
      const version = build<StorageVersion>(
        StorageVersions,
        { name: 'apps.deployments', metadata: { generation: 2 } },
        { spec: {}, ...(status && { status }) },
      );
      expect(planRecords(frozen(version), (id) => gone.includes(id), nowMs)).toEqual(expected);
    });
  }
});
