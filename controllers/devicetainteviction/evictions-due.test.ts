import { describe, expect, test } from 'vitest';

import { Pods, type AllocatedDevice, type DeviceTaint, type Pod } from '../../pkg/api/index.ts';
import { frozen, pod } from '../../test/support/builders.ts';
import { resourceClaim, taintRule, withDevices } from '../../test/support/claim-builders.ts';
import { podEviction, type DeviceView } from './evictions-due.ts';

const startMs = Date.parse('2026-01-01T00:00:00Z');
const at = (seconds: number): string => new Date(startMs + seconds * 1000).toISOString();
const taint = (key: string, seconds: number): DeviceTaint => ({ key, effect: 'NoExecute', timeAdded: at(seconds) });
const toleration = (key: string, tolerationSeconds?: number) => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  ...(tolerationSeconds !== undefined && { tolerationSeconds }),
});
const resourceClaims = [{ name: 'own', resourceClaimName: 'claim' }];
const user = pod({ name: 'user', spec: { nodeName: 'node', resourceClaims } });
const consumer = { resource: 'pods', name: 'user', uid: user.metadata.uid };

interface Scene {
  readonly by?: Pod;
  readonly taints?: Readonly<Record<string, readonly DeviceTaint[]>>;
  readonly rules?: DeviceView['rules'];
  readonly devices?: readonly Partial<AllocatedDevice>[];
  readonly consumers?: readonly (typeof consumer)[];
}

function dueOf({ by = user, taints = {}, rules = [], devices = [{}], consumers = [consumer] }: Scene) {
  const claim = frozen(resourceClaim({ name: 'claim', status: withDevices(devices, ...consumers) }));
  const view: DeviceView = {
    taintsOf: ({ device }) => taints[device] ?? [],
    rules,
    claimOf: (_pod, name) => (name === 'claim' ? claim : undefined),
    acceptsGroups: false,
  };
  const due = podEviction(frozen(by), view);
  return due && { seconds: (due.dueMs - startMs) / 1000, rules: [...due.rules.values()] };
}

describe('a pod', () => {
  const tainted = { 'gpu-0': [taint('broken', 10)] };
  const rows: (Scene & { readonly name: string; readonly expected: number | undefined })[] = [
    { name: 'stays without taints', expected: undefined },
    { name: 'goes at once when its device is tainted', taints: tainted, expected: 10 },
    { name: 'stays if another device is tainted', taints: { 'gpu-1': [taint('broken', 10)] }, expected: undefined },
    {
      name: 'stays if it tolerates the taint',
      taints: tainted,
      devices: [{ tolerations: [toleration('broken')] }],
      expected: undefined,
    },
    {
      name: 'stays for as long as it tolerates the taint',
      taints: tainted,
      devices: [{ tolerations: [toleration('broken', 60)] }],
      expected: 70,
    },
    {
      name: 'goes after the shortest of several tolerations',
      taints: tainted,
      devices: [{ tolerations: [toleration('broken', 60), toleration('broken', 5), toleration('other', 1)] }],
      expected: 15,
    },
    {
      name: 'goes at once with a negative time',
      taints: tainted,
      devices: [{ tolerations: [toleration('broken', -60)] }],
      expected: 10,
    },
    {
      name: 'needs a toleration for exactly this effect',
      taints: tainted,
      devices: [{ tolerations: [{ key: 'broken', operator: 'Exists' }] }],
      expected: 10,
    },
    {
      name: 'goes with the first of several taints',
      taints: { 'gpu-0': [taint('broken', 20)], 'gpu-1': [taint('worse', 5)] },
      devices: [{}, { device: 'gpu-1' }],
      expected: 5,
    },
    {
      name: 'stays without a node',
      by: pod({ name: 'user', spec: { resourceClaims } }),
      taints: tainted,
      expected: undefined,
    },
    { name: 'stays if the claim is not reserved for it', taints: tainted, consumers: [], expected: undefined },
  ];
  for (const { name, expected, ...scene } of rows) {
    test(name, () => expect(dueOf(scene)?.seconds).toBe(expected));
  }
});

test('rules that are to blame are named, each once', () => {
  const deviceSelector = { device: 'other' };
  const rules = [
    taintRule({ name: 'a' }),
    taintRule({ name: 'b' }),
    taintRule({ name: 'c', spec: { deviceSelector } }),
  ];
  const devices = [{}, { device: 'gpu-1' }];
  expect(dueOf({ rules: rules.map((rule) => frozen(rule)), devices })).toEqual({ seconds: 0, rules: ['a', 'b'] });
  const tolerant = [{ tolerations: [toleration('rule')] }];
  expect(dueOf({ rules: rules.map((rule) => frozen(rule)), devices: tolerant })).toBeUndefined();
});

test('a generated claim of another pod does not count', () => {
  const generated = { name: 'own', resourceClaimTemplateName: 'template' };
  const status = { resourceClaimStatuses: [{ name: 'own', resourceClaimName: 'claim' }] };
  const by = pod({ name: 'user', spec: { nodeName: 'node', resourceClaims: [generated] }, status });
  expect(dueOf({ by, taints: { 'gpu-0': [taint('broken', 10)] } })).toBeUndefined();
  const owned = frozen(
    resourceClaim({ owner: { kind: Pods, object: frozen(by) }, status: withDevices([{}], consumer) }),
  );
  const view = { taintsOf: () => [taint('broken', 10)], rules: [], claimOf: () => owned, acceptsGroups: false };
  expect(podEviction(frozen(by), view)).toBeDefined();
});
