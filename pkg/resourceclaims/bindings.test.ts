import { describe, expect, test } from 'vitest';

import { PodGroups, Pods } from '../api/index.ts';
import { frozen, pod } from '../../test/support/builders.ts';
import { allocated, podGroup, resourceClaim } from '../../test/support/claim-builders.ts';
import { bindingOf, isForPod, isReservedForPod } from './bindings.ts';

const entry = { name: 'own', resourceClaimTemplateName: 'template' };
const spec = { resourceClaims: [entry], schedulingGroup: { podGroupName: 'gang' } };
const member = frozen(pod({ name: 'member', spec }));
const loner = frozen(pod({ name: 'loner', spec: { resourceClaims: [entry] } }));
const group = frozen(podGroup({ name: 'gang', spec: { resourceClaims: [entry] } }));
const ofMember = { resource: 'pods', name: 'member', uid: member.metadata.uid };
const ofGroup = {
  apiGroup: 'scheduling.k8s.io',
  resource: 'podgroups',
  name: 'gang',
  uid: group.metadata.uid,
};

describe('a generated claim is for a pod', () => {
  const controlledBy = (kind: typeof Pods | typeof PodGroups, object: typeof member | typeof group) =>
    frozen(resourceClaim({ name: 'claim', owner: { kind, object } }));
  const ownedByGroup = controlledBy(PodGroups, group);
  const rows = [
    { name: 'that controls it', claim: controlledBy(Pods, member), by: member, acceptsGroups: false, expected: true },
    { name: 'unless another does', claim: controlledBy(Pods, loner), by: member, acceptsGroups: true, expected: false },
    { name: 'unless nobody does', claim: frozen(resourceClaim()), by: member, acceptsGroups: true, expected: false },
    { name: 'whose group controls it', claim: ownedByGroup, by: member, acceptsGroups: true, expected: true },
    { name: 'unless groups have no claims', claim: ownedByGroup, by: member, acceptsGroups: false, expected: false },
    { name: 'unless it is in no group', claim: ownedByGroup, by: loner, acceptsGroups: true, expected: false },
  ];
  for (const { name, claim, by, acceptsGroups, expected } of rows) {
    test(name, () => expect(isForPod(by, claim, { acceptsGroups })).toBe(expected));
  }
});

describe('a claim is reserved for a pod', () => {
  const rows = [
    { name: 'by its uid', consumers: [ofMember], acceptsGroups: false, expected: true },
    { name: 'not by its name', consumers: [{ ...ofMember, uid: 'other' }], acceptsGroups: true, expected: false },
    { name: 'by its group', consumers: [ofGroup], acceptsGroups: true, expected: true },
    { name: 'not by its group without the gate', consumers: [ofGroup], acceptsGroups: false, expected: false },
    { name: 'not if for nobody', consumers: [], acceptsGroups: true, expected: false },
  ];
  for (const { name, consumers, acceptsGroups, expected } of rows) {
    test(name, () => {
      const claim = frozen(resourceClaim({ status: allocated(...consumers) }));
      expect(isReservedForPod(member, claim, { acceptsGroups })).toBe(expected);
    });
  }
});

describe('a claim is reserved for', () => {
  const with_ = (resourceClaims: { name: string; resourceClaimTemplateName?: string }[]) =>
    frozen(podGroup({ name: 'gang', spec: { resourceClaims } }));
  const rows = [
    { name: 'the group, if both name it alike', group, expected: { kind: 'group', consumer: ofGroup } },
    { name: 'the pod, if there is no group', group: undefined, expected: { kind: 'pod', consumer: ofMember } },
    {
      name: 'the pod, if the group has another template',
      group: with_([{ name: 'own', resourceClaimTemplateName: 'other' }]),
      expected: { kind: 'pod', consumer: ofMember },
    },
    {
      name: 'nobody, if the group has an entry of an unknown kind',
      group: with_([{ name: 'future' }, entry]),
      expected: {
        kind: 'unknown',
        problem: 'PodGroup default/gang claim future: none of the supported fields are set',
      },
    },
  ];
  for (const { name, group: given, expected } of rows) {
    test(name, () => expect(bindingOf(member, given, entry)).toEqual(expected));
  }
});
