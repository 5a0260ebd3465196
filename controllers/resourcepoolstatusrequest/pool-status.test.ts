import { describe, expect, test } from 'vitest';

import {
  ResourcePoolStatusRequests,
  ResourceSlices,
  type ResourceClaim,
  type ResourceSlice,
} from '../../pkg/api/index.ts';
import { build, frozen } from '../../test/support/builders.ts';
import { resourceClaim, withDevices } from '../../test/support/claim-builders.ts';
import { computeAnswer } from './pool-status.ts';

const nowMs = Date.parse('2026-01-01T00:00:00Z');

interface SliceFields {
  readonly pool: string;
  readonly devices?: number;
  readonly generation?: number;
  readonly of?: number;
  readonly nodeName?: string;
}

let made = 0;
function slice({ pool, devices = 1, generation = 1, of = 1, nodeName }: SliceFields): ResourceSlice {
  made += 1;
  const list = Array.from({ length: devices }, (_, index) => ({ name: `gpu-${index}` }));
  const spec = { driver: 'd', pool: { name: pool, generation, resourceSliceCount: of }, devices: list, nodeName };
  return build(ResourceSlices, { name: `slice-${made}` }, { spec });
}

const claimOf = (pool: string, devices: number): ResourceClaim =>
  resourceClaim({ status: withDevices(Array.from({ length: devices }, () => ({ driver: 'd', pool }))) });

function answer(slices: readonly ResourceSlice[], spec: object = {}, claims: readonly ResourceClaim[] = []) {
  const request = frozen(build(ResourcePoolStatusRequests, { name: 'r' }, { spec: { driver: 'd', ...spec } }));
  return computeAnswer({
    request,
    slices: slices.map((each) => frozen(each)),
    claims: claims.map((each) => frozen(each)),
    nowMs,
  });
}

describe('the answer about pools', () => {
  test('counts devices of the newest generation, and those that are allocated', () => {
    const slices = [
      slice({ pool: 'a', devices: 9, generation: 1 }),
      slice({ pool: 'a', devices: 3, generation: 2, of: 2, nodeName: 'node' }),
      slice({ pool: 'a', devices: 1, generation: 2, of: 2, nodeName: 'node' }),
    ];
    expect(answer(slices, {}, [claimOf('a', 1), claimOf('other', 2), resourceClaim()])).toEqual({
      kind: 'complete',
      status: {
        poolCount: 1,
        pools: [
          {
            driver: 'd',
            poolName: 'a',
            generation: 2,
            nodeName: 'node',
            resourceSliceCount: 2,
            totalDevices: 4,
            allocatedDevices: 1,
            availableDevices: 3,
            unavailableDevices: 0,
          },
        ],
        conditions: [
          {
            type: 'Complete',
            status: 'True',
            lastTransitionTime: '2026-01-01T00:00:00Z',
            reason: 'CalculationComplete',
            message: 'Calculated status for 1 pools',
          },
        ],
      },
    });
  });

  const names = (found: ReturnType<typeof answer>): unknown =>
    found.kind === 'complete' && found.status.pools?.map(({ poolName }) => poolName);
  const pools = ['c', 'a', 'b'].map((pool) => slice({ pool }));

  test('is sorted by name', () => expect(names(answer(pools))).toEqual(['a', 'b', 'c']));
  test('is about one pool', () => expect(names(answer(pools, { poolName: 'b' }))).toEqual(['b']));
  test('is limited, and counts the others', () => {
    expect(answer(pools, { limit: 2 })).toMatchObject({
      status: { poolCount: 3, conditions: [{ message: 'Calculated status for 2 pools' }] },
    });
    expect(names(answer(pools, { limit: 2 }))).toEqual(['a', 'b']);
  });
  test('is empty without slices', () => expect(answer([])).toMatchObject({ status: { poolCount: 0, pools: [] } }));

  test('has no node if the slices have several, and nothing below zero', () => {
    const slices = [slice({ pool: 'a', of: 2, nodeName: 'x' }), slice({ pool: 'a', of: 2, nodeName: 'y' })];
    const found = answer(slices, {}, [claimOf('a', 5)]);
    expect(found).toMatchObject({ status: { pools: [{ availableDevices: 0, allocatedDevices: 5 }] } });
    expect(found.kind === 'complete' && found.status.pools?.[0]).not.toHaveProperty('nodeName');
  });

  test('waits for slices that are missing', () => {
    const slices = [slice({ pool: 'a' }), slice({ pool: 'b', of: 3, generation: 7 })];
    const problem = 'pool d/b is incomplete: observed 1/3 slices at generation 7';
    expect(answer(slices)).toEqual({ kind: 'incomplete', problem });
    expect(names(answer(slices, { limit: 1 }))).toEqual(['a']);
  });
});
