import { describe, expect, test } from 'vitest';

import type { PersistentVolumeClaim, StatefulSet } from '../../pkg/api/index.ts';
import { frozen, pod, statefulSet } from '../../test/support/builders.ts';
import { hasIdentity, hasStorage, newPod, podNameLabel, versionFor, withIdentity } from './identity.ts';

const templates = (...names: string[]) =>
  names.map((name) => ({ metadata: { name }, spec: {} })) as PersistentVolumeClaim[];
const template = (image: string) => ({
  metadata: { labels: { app: 'web', constructor: 'mine' } },
  spec: { containers: [{ name: 'app', image }], volumes: [{ name: 'data' }, { name: 'tmp', emptyDir: {} }] },
});
const versions = {
  current: { name: 'web-1', template: template('one') },
  update: { name: 'web-2', template: template('two') },
};

describe('newPod', () => {
  const set = frozen(statefulSet({ name: 'web', spec: { volumeClaimTemplates: templates('data') } }));
  const made = newPod(set, versions, 3);

  test('has the name, the labels and the host name of its place', () => {
    expect(made.metadata).toMatchObject({ name: 'web-3', generateName: 'web-', namespace: 'default' });
    expect(made.metadata.labels).toEqual({
      app: 'web',
      constructor: 'mine',
      'statefulset.kubernetes.io/pod-name': 'web-3',
      'apps.kubernetes.io/pod-index': '3',
      'controller-revision-hash': 'web-2',
    });
    expect(made.spec).toMatchObject({ hostname: 'web-3', subdomain: 'web' });
    expect(made.metadata.ownerReferences).toMatchObject([{ kind: 'StatefulSet', name: 'web', controller: true }]);
  });

  test('mounts its claim in place of the volume of the same name', () => {
    expect(made.spec.volumes).toEqual([
      { name: 'data', persistentVolumeClaim: { claimName: 'data-web-3' } },
      { name: 'tmp', emptyDir: {} },
    ]);
  });

  test('has no subdomain without a service', () => {
    const alone = frozen(statefulSet({ name: 'web', spec: { serviceName: '' } }));
    expect(newPod(alone, versions, 0).spec.subdomain).toBeUndefined();
  });
});

describe('versionFor', () => {
  const rolling = (rollingUpdate?: object) => ({ type: 'RollingUpdate', ...(rollingUpdate && { rollingUpdate }) });
  const rows: {
    name: string;
    spec?: Partial<StatefulSet['spec']>;
    currentReplicas?: number;
    current: number[];
    update: number[];
  }[] = [
    { name: 'the update revision without a partition', current: [], update: [0, 1, 2] },
    {
      name: 'the current revision below the partition',
      spec: { updateStrategy: rolling({ partition: 2 }) },
      current: [0, 1],
      update: [2, 3],
    },
    {
      name: 'the partition counts from the first ordinal',
      spec: { updateStrategy: rolling({ partition: 1 }), ordinals: { start: 5 } },
      current: [5],
      update: [6],
    },
    {
      name: 'without settings, as many as are at the current revision',
      spec: { updateStrategy: rolling() },
      currentReplicas: 2,
      current: [0, 1],
      update: [2],
    },
    {
      name: 'the update revision with OnDelete',
      spec: { updateStrategy: { type: 'OnDelete' } },
      current: [],
      update: [0],
    },
  ];
  for (const { name, spec = {}, currentReplicas, current, update } of rows) {
    test(name, () => {
      const status = { replicas: 3, ...(currentReplicas !== undefined && { currentReplicas }) };
      const set = frozen(statefulSet({ name: 'web', spec, status }));
      for (const ordinal of current) expect(versionFor(set, versions, ordinal).name).toBe('web-1');
      for (const ordinal of update) expect(versionFor(set, versions, ordinal).name).toBe('web-2');
    });
  }
});

describe('a pod of the set', () => {
  const set = frozen(statefulSet({ name: 'web', spec: { volumeClaimTemplates: templates('data') } }));
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data-web-1' } }];
  const rows = [
    { name: 'is as it should be', labels: { [podNameLabel]: 'web-1' }, volumes, identity: true, storage: true },
    { name: 'lacks its label', labels: {}, volumes, identity: false, storage: true },
    { name: 'has the label of another', labels: { [podNameLabel]: 'web-0' }, volumes, identity: false, storage: true },
    { name: 'lacks its volume', labels: { [podNameLabel]: 'web-1' }, volumes: [], identity: true, storage: false },
    {
      name: 'mounts the claim of another',
      labels: { [podNameLabel]: 'web-1' },
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-web-0' } }],
      identity: true,
      storage: false,
    },
  ];
  for (const { name, labels, volumes: mounted, identity, storage } of rows) {
    test(name, () => {
      const member = frozen(pod({ name: 'web-1', labels, spec: { volumes: mounted } }));
      expect([hasIdentity(set, member), hasStorage(set, member)]).toEqual([identity, storage]);
      const fixed = frozen(withIdentity(set, member, 1));
      expect([hasIdentity(set, fixed), hasStorage(set, fixed)]).toEqual([true, true]);
    });
  }
});
