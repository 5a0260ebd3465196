import { describe, expect, test } from 'vitest';

import { Pods, type Cached, type PodGroup, type ResourceClaim } from '../../pkg/api/index.ts';
import { frozen, pod } from '../../test/support/builders.ts';
import { allocated, podGroup, resourceClaim } from '../../test/support/claim-builders.ts';
import { groupNeedsSync, podNeedsSync } from './needs-sync.ts';

const deletionTimestamp = '2026-01-01T00:00:00Z';
const entry = { name: 'own', resourceClaimTemplateName: 'template' };
const shared = { name: 'shared', resourceClaimName: 'shared' };
const recorded = { phase: 'Pending', resourceClaimStatuses: [{ name: 'own', resourceClaimName: 'own' }] };
const schedulingGroup = { podGroupName: 'gang' };
const owner = frozen(pod({ name: 'user' }));
const own = resourceClaim({ name: 'own', owner: { kind: Pods, object: owner } });
const group = frozen(podGroup({ name: 'gang', spec: { resourceClaims: [entry] } }));

interface Row {
  readonly name: string;
  readonly spec?: object;
  readonly status?: object;
  readonly metadata?: object;
  readonly claims?: readonly ResourceClaim[];
  readonly group?: Cached<PodGroup> | 'missing';
  readonly expected: boolean;
}

describe('there is work for a pod', () => {
  const rows: readonly Row[] = [
    { name: 'whose claim is not recorded', expected: true },
    { name: 'whose recorded claim is missing', status: recorded, expected: true },
    { name: 'not if its claim exists', status: recorded, claims: [own], expected: false },
    {
      name: 'not if another claim has the name',
      status: recorded,
      claims: [resourceClaim({ name: 'own' })],
      expected: false,
    },
    { name: 'not if it needs no claim', status: { resourceClaimStatuses: [{ name: 'own' }] }, expected: false },
    { name: 'not if users must create the claim', spec: { resourceClaims: [shared] }, expected: false },
    { name: 'not if it is being deleted', metadata: { deletionTimestamp }, expected: false },
    { name: 'not if it is finished', status: { ...recorded, phase: 'Succeeded' }, expected: false },
    {
      name: 'on a node, with a claim to reserve',
      spec: { resourceClaims: [shared], nodeName: 'node' },
      claims: [resourceClaim({ name: 'shared', status: allocated() })],
      expected: true,
    },
    {
      name: 'not before it has a node',
      spec: { resourceClaims: [shared] },
      claims: [resourceClaim({ name: 'shared', status: allocated() })],
      expected: false,
    },
    {
      name: 'not if its group needs the claim',
      spec: { resourceClaims: [entry], schedulingGroup },
      status: recorded,
      group,
      expected: false,
    },
    {
      name: 'whose group is unknown',
      spec: { resourceClaims: [entry], schedulingGroup },
      status: recorded,
      group: 'missing',
      expected: true,
    },
  ];
  for (const { name, spec = { resourceClaims: [entry] }, status, metadata, claims = [], group: of, expected } of rows) {
    test(name, () => {
      const user = frozen(pod({ name: 'user', spec, status, metadata }));
      const claimOf = (key: string) => claims.find((claim) => claim.metadata.name === key);
      expect(podNeedsSync(user, { claimOf, group: of, acceptsGroups: of !== undefined })).toBe(expected);
    });
  }
});

describe('there is work for a group', () => {
  const status = { resourceClaimStatuses: [{ name: 'own', resourceClaimName: 'own' }] };
  const rows = [
    {
      name: 'whose claim is not recorded',
      group: podGroup({ spec: { resourceClaims: [entry] } }),
      expected: true,
    },
    {
      name: 'whose claim is missing',
      group: podGroup({ spec: { resourceClaims: [entry] }, status }),
      expected: true,
    },
    {
      name: 'not if users must create it',
      group: podGroup({ spec: { resourceClaims: [shared] } }),
      expected: false,
    },
    {
      name: 'not if it is being deleted',
      group: podGroup({ spec: { resourceClaims: [entry] }, metadata: { deletionTimestamp } }),
      expected: false,
    },
  ];
  for (const { name, group: given, expected } of rows) {
    test(name, () => {
      expect(groupNeedsSync(frozen(given), { claimOf: () => undefined, acceptsGroups: true })).toBe(expected);
    });
  }
});
