import { describe, expect, test } from 'vitest';

import {
  cronJob,
  daemonSet,
  deployment,
  endpointSlice,
  frozen,
  job,
  node,
  persistentVolumeClaim,
  pod,
  replicaSet,
  runningStatus,
  service,
  statefulSet,
  creationTime,
} from '../../test/support/builders.ts';
import type { ItemState } from './protocol.ts';
import {
  showClaim,
  showCronJob,
  showDaemonSet,
  showDeployment,
  showEndpointSlice,
  showJob,
  showNode,
  showPod,
  showReplicaSet,
  showService,
  showStatefulSet,
  type Shown,
} from './states.ts';

type Row = readonly [name: string, object: object, state: ItemState, text: string];

/** Objects as the API may send them, beyond their types. */
function check(title: string, show: (object: never) => Shown, rows: readonly Row[]): void {
  describe(title, () => {
    for (const [name, object, state, text] of rows) {
      test(name, () => expect(show(frozen(object) as never)).toEqual({ state, text }));
    }
  });
}

const terminating = { deletionTimestamp: creationTime };
const condition = (type: string, status: string, reason?: string) => ({
  type,
  status,
  ...(reason !== undefined && { reason }),
});
const waiting = (reason: string): object => ({
  ...runningStatus({ ready: false }),
  containerStatuses: [{ name: 'app', state: { waiting: { reason } } }],
});

check('a pod', showPod, [
  ['is pending', pod(), 'busy', 'pending'],
  ['is pending before its first status', { ...pod(), status: undefined }, 'busy', 'pending'],
  [
    'is pending with lists of null',
    { ...pod(), status: { conditions: null, containerStatuses: null } },
    'busy',
    'pending',
  ],
  [
    'cannot be scheduled',
    pod({ status: { phase: 'Pending', conditions: [condition('PodScheduled', 'False', 'Unschedulable')] } }),
    'busy',
    'Unschedulable',
  ],
  [
    'is not scheduled, without a reason',
    pod({ status: { phase: 'Pending', conditions: [condition('PodScheduled', 'False')] } }),
    'busy',
    'not scheduled',
  ],
  ['runs, not ready', pod({ status: runningStatus({ ready: false }) }), 'busy', 'not ready'],
  ['is ready', pod({ status: runningStatus() }), 'good', 'ready'],
  ['crashes', { ...pod(), status: waiting('CrashLoopBackOff') }, 'bad', 'CrashLoopBackOff'],
  ['cannot pull its image', { ...pod(), status: waiting('ErrImagePull') }, 'bad', 'ErrImagePull'],
  ['waits as it starts', { ...pod(), status: waiting('ContainerCreating') }, 'busy', 'not ready'],
  ['has succeeded', pod({ status: { phase: 'Succeeded' } }), 'ended', 'succeeded'],
  ['has failed', pod({ status: { phase: 'Failed' } }), 'bad', 'failed'],
  ['was evicted', pod({ status: { phase: 'Failed', reason: 'Evicted' } }), 'bad', 'Evicted'],
  ['is terminating', pod({ metadata: terminating, status: runningStatus() }), 'busy', 'terminating'],
  [
    'is not terminating with a time of null',
    { ...pod({ status: runningStatus() }), metadata: { ...pod().metadata, deletionTimestamp: null } },
    'good',
    'ready',
  ],
]);

const rolledOut = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2 };
const two = { replicas: 2 };

check('a Deployment', showDeployment, [
  ['is complete', deployment({ spec: two, status: rolledOut }), 'good', '2 of 2 available'],
  ['has no status', { ...deployment({ spec: two }), status: undefined }, 'busy', '0 of 2 available'],
  [
    'has one replica by default, and conditions of null',
    { ...deployment(), spec: {}, status: { conditions: null } },
    'busy',
    '0 of 1 available',
  ],
  [
    'waits for pods',
    deployment({ spec: two, status: { ...rolledOut, availableReplicas: 1 } }),
    'busy',
    '1 of 2 available',
  ],
  [
    'waits for updates',
    deployment({ spec: two, status: { ...rolledOut, updatedReplicas: 1 } }),
    'busy',
    '2 of 2 available',
  ],
  [
    'waits for old pods to end',
    deployment({ spec: two, status: { ...rolledOut, replicas: 3 } }),
    'busy',
    '2 of 2 available',
  ],
  [
    'is changed, and the change not observed',
    deployment({ spec: two, metadata: { generation: 2 }, status: rolledOut }),
    'busy',
    '2 of 2 available',
  ],
  ['is paused', deployment({ spec: { ...two, paused: true }, status: rolledOut }), 'ended', '2 of 2 available, paused'],
  [
    'makes no progress',
    deployment({ spec: two, status: { conditions: [condition('Progressing', 'False', 'ProgressDeadlineExceeded')] } }),
    'bad',
    '0 of 2 available, ProgressDeadlineExceeded',
  ],
  [
    'makes no progress, without a reason',
    deployment({ status: { conditions: [condition('Progressing', 'False')] } }),
    'bad',
    '0 of 1 available, no progress',
  ],
  [
    'cannot create pods',
    deployment({ status: { conditions: [condition('ReplicaFailure', 'True', 'FailedCreate')] } }),
    'bad',
    '0 of 1 available, FailedCreate',
  ],
  [
    'could not create pods earlier',
    deployment({ spec: two, status: { ...rolledOut, conditions: [condition('ReplicaFailure', 'False')] } }),
    'good',
    '2 of 2 available',
  ],
  ['is terminating', deployment({ metadata: terminating }), 'busy', 'terminating'],
]);

check('a ReplicaSet', showReplicaSet, [
  ['is complete', replicaSet({ spec: two, status: { replicas: 2, readyReplicas: 2 } }), 'good', '2 of 2 ready'],
  ['waits for pods', replicaSet({ spec: two, status: { replicas: 2, readyReplicas: 1 } }), 'busy', '1 of 2 ready'],
  ['has a pod too many', replicaSet({ spec: two, status: { replicas: 3, readyReplicas: 2 } }), 'busy', '2 of 2 ready'],
  ['has no status', { ...replicaSet(), status: undefined }, 'busy', '0 of 1 ready'],
  ['is scaled to 0', replicaSet({ spec: { replicas: 0 } }), 'ended', 'scaled to 0'],
  ['scales down to 0', replicaSet({ spec: { replicas: 0 }, status: { replicas: 1 } }), 'busy', '0 of 0 ready'],
  [
    'cannot create pods',
    replicaSet({ status: { replicas: 0, conditions: [condition('ReplicaFailure', 'True')] } }),
    'bad',
    '0 of 1 ready, pods cannot be created',
  ],
  ['is terminating', replicaSet({ metadata: terminating }), 'busy', 'terminating'],
]);

const observed = { observedGeneration: statefulSet().metadata.generation };
const revisions = { currentRevision: 'a', updateRevision: 'b' };

check('a StatefulSet', showStatefulSet, [
  [
    'is complete',
    statefulSet({ spec: two, status: { ...observed, replicas: 2, readyReplicas: 2 } }),
    'good',
    '2 of 2 ready',
  ],
  ['has changed', statefulSet({ spec: two, status: { replicas: 2, readyReplicas: 2 } }), 'busy', '2 of 2 ready'],
  ['waits for pods', statefulSet({ status: { replicas: 1 } }), 'busy', '0 of 1 ready'],
  ['is updated', statefulSet({ status: { ...revisions, replicas: 1, readyReplicas: 1 } }), 'busy', '1 of 1 ready'],
  [
    'has updated all pods',
    statefulSet({ status: { ...observed, ...revisions, replicas: 1, readyReplicas: 1, updatedReplicas: 1 } }),
    'good',
    '1 of 1 ready',
  ],
  ['has neither spec nor status', { metadata: statefulSet().metadata }, 'busy', '0 of 1 ready'],
  ['is terminating', statefulSet({ metadata: terminating }), 'busy', 'terminating'],
]);

const scheduled = { currentNumberScheduled: 2, desiredNumberScheduled: 2, numberMisscheduled: 0, numberReady: 2 };

check('a DaemonSet', showDaemonSet, [
  [
    'is complete',
    daemonSet({ status: { ...observed, ...scheduled, numberAvailable: 2, updatedNumberScheduled: 2 } }),
    'good',
    '2 of 2 available',
  ],
  ['waits for pods', daemonSet({ status: { ...scheduled, updatedNumberScheduled: 2 } }), 'busy', '0 of 2 available'],
  ['waits for updates', daemonSet({ status: { ...scheduled, numberAvailable: 2 } }), 'busy', '2 of 2 available'],
  ['has no status', { ...daemonSet(), status: undefined }, 'busy', '0 of 0 available'],
  ['is terminating', daemonSet({ metadata: terminating }), 'busy', 'terminating'],
]);

check('a Job', showJob, [
  ['has not started', job(), 'busy', '0 active, 0 succeeded'],
  ['has neither spec nor status', { metadata: job().metadata }, 'busy', '0 active, 0 succeeded'],
  ['runs', job({ status: { active: 2, succeeded: 1, conditions: undefined } }), 'busy', '2 active, 1 succeeded'],
  ['has failures', job({ status: { active: 1, failed: 3 } }), 'busy', '1 active, 0 succeeded, 3 failed'],
  ['is suspended', job({ spec: { suspend: true } }), 'ended', 'suspended'],
  ['is complete', job({ status: { conditions: [condition('Complete', 'True')] } }), 'ended', 'complete'],
  [
    'has failed',
    job({ status: { conditions: [condition('Failed', 'True', 'BackoffLimitExceeded')] } }),
    'bad',
    'BackoffLimitExceeded',
  ],
  ['has failed, without a reason', job({ status: { conditions: [condition('Failed', 'True')] } }), 'bad', 'failed'],
  ['is terminating', job({ metadata: terminating }), 'busy', 'terminating'],
  [
    'was complete when it was deleted',
    job({ metadata: terminating, status: { conditions: [condition('Complete', 'True')] } }),
    'ended',
    'complete',
  ],
]);

check('a CronJob', showCronJob, [
  ['waits for its time', cronJob(), 'good', '* * * * *'],
  ['has a running Job', cronJob({ status: { active: [{ name: 'a' }] } }), 'busy', '* * * * *'],
  ['has a list of null', { ...cronJob(), status: { active: null } }, 'good', '* * * * *'],
  ['has no spec', { metadata: cronJob().metadata }, 'good', ''],
  ['is suspended', cronJob({ spec: { suspend: true } }), 'ended', 'suspended'],
  ['is terminating', cronJob({ metadata: terminating }), 'busy', 'terminating'],
]);

const balanced = (ingress: unknown): object => ({
  ...service(),
  spec: { type: 'LoadBalancer' },
  status: { loadBalancer: { ingress } },
});

check('a Service', showService, [
  ['has an address in the cluster', service(), 'good', 'ClusterIP'],
  ['has no spec', { metadata: service().metadata }, 'good', 'ClusterIP'],
  ['has a name elsewhere', service({ spec: { type: 'ExternalName' } }), 'good', 'ExternalName'],
  ['waits for its load balancer', balanced(undefined), 'busy', 'waits for an address'],
  ['waits with a list of null', balanced(null), 'busy', 'waits for an address'],
  ['has the address of a load balancer', balanced([{ ip: '192.0.2.1' }]), 'good', 'LoadBalancer 192.0.2.1'],
  ['has the name of a load balancer', balanced([{ hostname: 'lb.example' }]), 'good', 'LoadBalancer lb.example'],
  ['is terminating', service({ metadata: terminating }), 'busy', 'terminating'],
]);

const endpoint = (ready?: boolean | null): object => ({ addresses: ['10.0.0.1'], conditions: { ready } });

check('an EndpointSlice', showEndpointSlice, [
  ['has ready endpoints only', { ...endpointSlice(), endpoints: [endpoint(true)] }, 'good', '1 of 1 ready'],
  [
    'has one that is not ready',
    { ...endpointSlice(), endpoints: [endpoint(true), endpoint(false)] },
    'busy',
    '1 of 2 ready',
  ],
  [
    'has endpoints that do not say',
    { ...endpointSlice(), endpoints: [endpoint(), endpoint(null), {}] },
    'good',
    '3 of 3 ready',
  ],
  ['is empty, sent as null', { ...endpointSlice(), endpoints: null }, 'good', '0 of 0 ready'],
  ['is terminating', endpointSlice({ metadata: terminating }), 'busy', 'terminating'],
]);

check('a Node', showNode, [
  ['is ready', node(), 'good', 'ready'],
  ['is cordoned', node({ spec: { unschedulable: true } }), 'busy', 'cordoned'],
  ['has no status yet', { metadata: node().metadata }, 'bad', 'not ready'],
  [
    'does not report',
    node({
      spec: { unschedulable: true },
      status: { conditions: [condition('Ready', 'Unknown', 'NodeStatusUnknown')] },
    }),
    'bad',
    'NodeStatusUnknown',
  ],
  ['is terminating', node({ metadata: terminating }), 'busy', 'terminating'],
]);

check('a claim', showClaim, [
  ['is pending', persistentVolumeClaim(), 'busy', 'pending'],
  ['has no status', { metadata: persistentVolumeClaim().metadata }, 'busy', 'pending'],
  ['is bound', persistentVolumeClaim({ status: { phase: 'Bound' } }), 'good', 'bound'],
  ['has lost its volume', persistentVolumeClaim({ status: { phase: 'Lost' } }), 'bad', 'lost'],
  ['is terminating', persistentVolumeClaim({ metadata: terminating }), 'busy', 'terminating'],
]);
