import { expect, test } from 'vitest';

import { frozen, pod } from '../../test/support/builders.ts';
import { groupInUseBy, groupOf } from './members.ts';

test.each([
  { title: 'a pod without a group', spec: {}, phase: 'Running', group: undefined, used: undefined },
  {
    title: 'a group without a name',
    spec: { schedulingGroup: {} },
    phase: 'Running',
    group: undefined,
    used: undefined,
  },
  {
    title: 'a running pod',
    spec: { schedulingGroup: { podGroupName: 'gang' } },
    phase: 'Running',
    group: 'default/gang',
    used: 'default/gang',
  },
  {
    title: 'a pod that no node has yet',
    spec: { schedulingGroup: { podGroupName: 'constructor' } },
    phase: 'Pending',
    group: 'default/constructor',
    used: 'default/constructor',
  },
  ...['Succeeded', 'Failed'].map((phase) => ({
    title: `a pod that has ${phase}`,
    spec: { schedulingGroup: { podGroupName: 'gang' } },
    phase,
    group: 'default/gang',
    used: undefined,
  })),
])('the group of $title', ({ spec, phase, group, used }) => {
  const member = frozen(pod({ namespace: 'default', spec, status: { phase } }));
  expect([groupOf(member), groupInUseBy(member)]).toEqual([group, used]);
});
