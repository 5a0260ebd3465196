import { describe, expect, test } from 'vitest';

import type { UntypedObject } from '../../api/index.ts';
import { Registry, storageId } from '../registry/index.ts';
import { readPath } from './custom.ts';
import { tableOf } from './table.ts';

const nowMs = Date.parse('2026-01-01T00:05:00Z');
const registry = new Registry();
const metadata = {
  name: 'x',
  namespace: 'n',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
};
const deletionTimestamp = '2026-01-01T00:00:00Z';

/** The cells of an object by the names of their columns. */
function cellsOf(resourceName: string, fields: object): Record<string, unknown> {
  const resource = registry.all().find((each) => storageId(each) === resourceName);
  if (resource === undefined) throw new Error(`no resource ${resourceName}`);
  const object = { metadata, ...fields } as UntypedObject;
  const table = tableOf(resource, [object], { includeObject: 'None', nowMs }, {}) as {
    columnDefinitions: { name: string }[];
    rows: { cells: unknown[] }[];
  };
  return Object.fromEntries(table.columnDefinitions.map(({ name }, index) => [name, table.rows[0]?.cells[index]]));
}

const containers = [{ name: 'c', image: 'i' }];
const running = { name: 'c', ready: true, restartCount: 0, state: { running: {} } };
const waiting = (reason: string) => ({ name: 'c', ready: false, restartCount: 0, state: { waiting: { reason } } });
const terminated = (state: object) => ({ name: 'c', ready: false, restartCount: 2, state: { terminated: state } });
const pod = (status: object, more: object = {}) => ({ spec: { containers }, status, ...more });

const rows: { name: string; resource: string; object: object; expected: object }[] = [
  {
    name: 'a running pod',
    resource: 'pods',
    object: pod({ phase: 'Running', containerStatuses: [running] }),
    expected: { Name: 'x', Ready: '1/1', Status: 'Running', Restarts: '0', Age: '5m', Node: '<none>' },
  },
  {
    name: 'a pod whose image cannot be pulled',
    resource: 'pods',
    object: pod({ phase: 'Pending', containerStatuses: [waiting('ImagePullBackOff')] }),
    expected: { Ready: '0/1', Status: 'ImagePullBackOff' },
  },
  {
    name: 'a pod that failed, by its exit code',
    resource: 'pods',
    object: pod({ phase: 'Failed', containerStatuses: [terminated({ exitCode: 3 })] }),
    expected: { Status: 'ExitCode:3', Restarts: '2' },
  },
  {
    name: 'a pod that was killed, by its signal',
    resource: 'pods',
    object: pod({ phase: 'Failed', containerStatuses: [terminated({ exitCode: 137, signal: 9 })] }),
    expected: { Status: 'Signal:9' },
  },
  {
    name: 'a pod that has restarted, with the time since',
    resource: 'pods',
    object: pod({
      phase: 'Running',
      containerStatuses: [
        { ...running, restartCount: 1, lastState: { terminated: { exitCode: 1, finishedAt: '2026-01-01T00:04:00Z' } } },
      ],
    }),
    expected: { Restarts: '1 (60s ago)' },
  },
  {
    name: 'a pod in its second init container',
    resource: 'pods',
    object: {
      spec: { containers, initContainers: [{ name: 'a' }, { name: 'b' }] },
      status: {
        phase: 'Pending',
        initContainerStatuses: [
          { ...terminated({ exitCode: 0 }), name: 'a' },
          { name: 'b', ready: false, restartCount: 0, state: { running: {} } },
        ],
      },
    },
    expected: { Status: 'Init:1/2' },
  },
  {
    name: 'a pod that is being deleted',
    resource: 'pods',
    object: pod({ phase: 'Running', containerStatuses: [running] }, { metadata: { ...metadata, deletionTimestamp } }),
    expected: { Status: 'Terminating' },
  },
  {
    name: 'a deleted pod of a lost node',
    resource: 'pods',
    object: pod({ phase: 'Running', reason: 'NodeLost' }, { metadata: { ...metadata, deletionTimestamp } }),
    expected: { Status: 'Unknown' },
  },
  {
    name: 'a gated pod',
    resource: 'pods',
    object: pod({
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }],
    }),
    expected: { Status: 'SchedulingGated' },
  },
  {
    name: 'a Deployment',
    resource: 'deployments.apps',
    object: {
      spec: { replicas: 3, selector: { matchLabels: { b: '2', a: '1' } }, template: { spec: { containers } } },
      status: { readyReplicas: 2, updatedReplicas: 3, availableReplicas: 1 },
    },
    expected: { Ready: '2/3', 'Up-to-date': '3', Available: '1', Containers: 'c', Images: 'i', Selector: 'a=1,b=2' },
  },
  {
    name: 'a running Job',
    resource: 'jobs.batch',
    object: { spec: { completions: 3 }, status: { succeeded: 1, startTime: '2026-01-01T00:00:00Z' } },
    expected: { Status: 'Running', Completions: '1/3', Duration: '5m' },
  },
  {
    name: 'a Job that is a work queue',
    resource: 'jobs.batch',
    object: { spec: { parallelism: 2 }, status: {} },
    expected: { Completions: '0/1 of 2', Duration: '' },
  },
  {
    name: 'a finished Job',
    resource: 'jobs.batch',
    object: {
      spec: { completions: 1 },
      status: {
        succeeded: 1,
        conditions: [{ type: 'Complete', status: 'True' }],
        startTime: '2026-01-01T00:00:00Z',
        completionTime: '2026-01-01T00:00:07Z',
      },
    },
    expected: { Status: 'Complete', Completions: '1/1', Duration: '7s' },
  },
  {
    name: 'a CronJob that has never run',
    resource: 'cronjobs.batch',
    object: { spec: { schedule: '* * * * *', jobTemplate: {} }, status: {} },
    expected: { Schedule: '* * * * *', Timezone: '<none>', Suspend: 'False', Active: 0, 'Last Schedule': '<none>' },
  },
  {
    name: 'a Service with a node port',
    resource: 'services',
    object: {
      spec: { type: 'NodePort', clusterIP: '10.96.0.2', ports: [{ port: 80, nodePort: 30_000, protocol: 'TCP' }] },
    },
    expected: { Type: 'NodePort', 'External-IP': '<none>', 'Port(s)': '80:30000/TCP', Selector: '<none>' },
  },
  {
    name: 'a load balancer that has no address yet',
    resource: 'services',
    object: { spec: { type: 'LoadBalancer', ports: [] }, status: {} },
    expected: { 'External-IP': '<pending>', 'Port(s)': '<none>' },
  },
  {
    name: 'a node that is ready and cordoned',
    resource: 'nodes',
    object: {
      metadata: { ...metadata, labels: { 'node-role.kubernetes.io/b': '', 'kubernetes.io/role': 'a' } },
      spec: { unschedulable: true },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    },
    expected: { Status: 'Ready,SchedulingDisabled', Roles: 'a,b', 'Internal-IP': '<none>' },
  },
  {
    name: 'a node without a status',
    resource: 'nodes',
    object: { spec: {}, status: {} },
    expected: { Status: 'Unknown', Roles: '<none>' },
  },
  {
    name: 'Endpoints of many addresses',
    resource: 'endpoints',
    object: {
      subsets: [{ addresses: ['1', '2', '3', '4'].map((each) => ({ ip: `10.0.0.${each}` })), ports: [{ port: 80 }] }],
    },
    expected: { Endpoints: '10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 1 more...' },
  },
  {
    name: 'an EndpointSlice without ports and endpoints',
    resource: 'endpointslices.discovery.k8s.io',
    object: { addressType: 'IPv4', endpoints: [], ports: [] },
    expected: { AddressType: 'IPv4', Ports: '<unset>', Endpoints: '<unset>' },
  },
  {
    name: 'a disruption budget',
    resource: 'poddisruptionbudgets.policy',
    object: { spec: { minAvailable: '50%' }, status: { disruptionsAllowed: 2 } },
    expected: { 'Min Available': '50%', 'Max Unavailable': 'N/A', 'Allowed Disruptions': 2 },
  },
  {
    name: 'an object of a kind without columns of its own',
    resource: 'limitranges',
    object: {},
    expected: { Name: 'x', 'Created At': '2026-01-01T00:00:00Z' },
  },
];

describe('a table shows', () => {
  for (const { name, resource, object, expected } of rows) {
    test(name, () => expect(cellsOf(resource, object)).toMatchObject(expected));
  }
});

const object = { a: { b: 1, 'x.y': 2 }, list: [{ type: 'Ready', status: 'True' }, { type: 'Other' }] };
const paths: readonly (readonly [string, unknown])[] = [
  ['.a.b', 1],
  [".a['x.y']", 2],
  ['.a.x\\.y', 2],
  ['.list[1].type', 'Other'],
  ['.list[?(@.type=="Ready")].status', 'True'],
  ['.list[?(@.type=="Absent")].status', undefined],
  ['.absent.b', undefined],
  ['.a.b.c', undefined],
];

describe('readPath', () => {
  for (const [path, expected] of paths) test(`reads ${path}`, () => expect(readPath(object, path)).toEqual(expected));
});
