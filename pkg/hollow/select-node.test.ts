import { describe, expect, test } from 'vitest';
import type { Cached, Node, Pod } from '../api/index.ts';
import { type Described, frozen, node, pod } from '../../test/support/builders.ts';
import { isWaitingForNode, selectNode } from './select-node.ts';

const candidate = (name: string, load = 0, described: Described<Node> = {}) => ({
  node: frozen(node({ name, ...described })),
  load,
});
const notReady: Described<Node> = { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } };
const taint = { key: 'dedicated', value: 'db', effect: 'NoSchedule' };

const rows: readonly {
  readonly name: string;
  readonly pod?: Described<Pod>;
  readonly nodes: readonly ReturnType<typeof candidate>[];
  readonly startAt?: number;
  readonly canReachVolumes?: (node: Cached<Node>) => boolean;
  readonly expected: string | undefined;
}[] = [
  { name: 'selects the node with the fewest pods', nodes: [candidate('a', 2), candidate('b', 1)], expected: 'b' },
  { name: 'starts at startAt', nodes: [candidate('a'), candidate('b')], startAt: 1, expected: 'b' },
  { name: 'continues at the first node', nodes: [candidate('a', 0), candidate('b', 1)], startAt: 1, expected: 'a' },
  {
    name: 'skips nodes that are not ready',
    nodes: [candidate('a', 0, notReady), candidate('b', 9)],
    expected: 'b',
  },
  {
    name: 'skips cordoned nodes',
    nodes: [candidate('a', 0, { spec: { unschedulable: true } })],
    expected: undefined,
  },
  {
    name: 'selects a cordoned node for a pod that tolerates it, as daemon pods do',
    pod: {
      spec: { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' }] },
    },
    nodes: [candidate('a', 0, { spec: { unschedulable: true } })],
    expected: 'a',
  },
  {
    name: 'follows the node selector',
    pod: { spec: { nodeSelector: { disk: 'ssd' } } },
    nodes: [candidate('a'), candidate('b', 5, { labels: { disk: 'ssd' } })],
    expected: 'b',
  },
  {
    name: 'follows a required affinity to a name',
    pod: {
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['b'] }] }],
            },
          },
        },
      },
    },
    nodes: [candidate('a'), candidate('b', 5)],
    expected: 'b',
  },
  {
    name: 'skips nodes with taints',
    nodes: [candidate('a', 0, { spec: { taints: [taint] } }), candidate('b', 5)],
    expected: 'b',
  },
  {
    name: 'ignores a taint that the pod tolerates',
    pod: { spec: { tolerations: [{ key: 'dedicated', operator: 'Exists' }] } },
    nodes: [candidate('a', 0, { spec: { taints: [taint] } }), candidate('b', 5)],
    expected: 'a',
  },
  {
    name: 'does not tolerate another value of the taint',
    pod: { spec: { tolerations: [{ key: 'dedicated', value: 'web' }] } },
    nodes: [candidate('a', 0, { spec: { taints: [taint] } })],
    expected: undefined,
  },
  {
    name: 'skips nodes that cannot reach the volumes of the pod',
    canReachVolumes: ({ metadata }) => metadata.name === 'b',
    nodes: [candidate('a', 0), candidate('b', 5)],
    expected: 'b',
  },
  {
    name: 'uses the Ready condition instead of the taint of a new node',
    nodes: [candidate('a', 0, { spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] } })],
    expected: 'a',
  },
];

describe('selectNode', () => {
  for (const { name, nodes, startAt = 0, canReachVolumes, expected, ...row } of rows) {
    test(name, () => {
      const search = { startAt, canReachVolumes };
      expect(selectNode(frozen(pod(row.pod)), nodes, search)?.node.metadata.name).toBe(expected);
    });
  }
});

describe('isWaitingForNode', () => {
  const waiting: readonly { readonly name: string; readonly pod: Described<Pod>; readonly expected: boolean }[] = [
    { name: 'a new pod waits', pod: {}, expected: true },
    { name: 'a bound pod does not', pod: { spec: { nodeName: 'a' } }, expected: false },
    { name: 'a gated pod does not', pod: { spec: { schedulingGates: [{ name: 'a' }] } }, expected: false },
    { name: 'a pod of another scheduler does not', pod: { spec: { schedulerName: 'other' } }, expected: false },
    {
      name: 'a deleted pod does not',
      pod: { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } },
      expected: false,
    },
  ];
  for (const { name, expected, ...row } of waiting) {
    test(name, () => expect(isWaitingForNode(frozen(pod(row.pod)))).toBe(expected));
  }
});
