import { beforeEach, describe, expect, test } from 'vitest';

import { objectKey, type UntypedObject } from '../../api/index.ts';
import { Registry } from '../registry/index.ts';
import { Api } from '../rest/api.ts';
import { createObject } from '../rest/create.ts';
import { decode } from '../rest/decode.ts';
import { deleteObject } from '../rest/remove.ts';
import { replaceObject } from '../rest/update.ts';
import type { Fields } from '../schema/index.ts';
import { Store } from '../storage/index.ts';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
let api: Api;

beforeEach(() => {
  api = new Api({
    store: new Store({ historyLength: 100 }),
    registry: new Registry(),
    clock: { now: () => nowMs },
    random: () => 0.5,
  });
  create('', 'namespaces', { metadata: { name: 'default' } });
  create('', 'serviceaccounts', { metadata: { name: 'default' } });
});

function create(group: string, name: string, body: object): UntypedObject {
  const resource = api.registry.get(group, 'v1', name);
  const namespace = resource.namespaced ? 'default' : undefined;
  return createObject(api, { resource, namespace }, decode(body, resource, 'Strict').object, { dryRun: false }).object;
}

function update(group: string, name: string, object: object, target: 'object' | 'status' = 'object'): UntypedObject {
  const resource = api.registry.get(group, 'v1', name);
  const { object: decoded } = decode(object, resource, 'Strict');
  const { metadata } = object as { metadata: { name: string } };
  const key = objectKey(resource.namespaced ? 'default' : undefined, metadata.name);
  return replaceObject(api, { resource, key }, decoded, { dryRun: false, target }).object;
}

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } };
const selector = { matchLabels: { a: 'b' } };
const deployment = (spec: object = {}) => ({ metadata: { name: 'd' }, spec: { selector, template, ...spec } });
const pod = (spec: object = {}) => ({ metadata: { name: 'p' }, spec: { ...template.spec, ...spec } });

describe('a new object', () => {
  test('has one template, be it in a Deployment or in a ReplicaSet', () => {
    const inDeployment = create('apps', 'deployments', deployment())['spec'] as Fields;
    const inSet = create('apps', 'replicasets', deployment())['spec'] as Fields;
    expect(inDeployment['template']).toEqual(inSet['template']);
    expect(inDeployment).toMatchObject({ replicas: 1, strategy: { type: 'RollingUpdate' }, revisionHistoryLimit: 10 });
  });

  test('is written as Go writes it: value structs always, empty values never', () => {
    const created = create('apps', 'deployments', deployment({ paused: false, minReadySeconds: 0 }));
    expect(created).toMatchObject({ status: {}, spec: { template: { spec: { containers: [{ resources: {} }] } } } });
    expect(created['spec']).not.toHaveProperty('paused');
    expect(created['spec']).not.toHaveProperty('minReadySeconds');
  });

  test('of a pod gets its account, its tolerations and its class of service', () => {
    const created = create('', 'pods', pod());
    expect(created).toMatchObject({
      spec: { serviceAccountName: 'default', priority: 0, enableServiceLinks: true },
      status: { phase: 'Pending', qosClass: 'BestEffort' },
    });
    expect((created['spec'] as Fields)['tolerations']).toHaveLength(2);
  });

  test('of a Job selects its pods by its own uid', () => {
    const spec = { template: { spec: { ...template.spec, restartPolicy: 'Never' } } };
    const { metadata, spec: job } = create('batch', 'jobs', { metadata: { name: 'j' }, spec });
    expect(job).toMatchObject({
      completions: 1,
      backoffLimit: 6,
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': metadata.uid } },
      template: { metadata: { labels: { 'job-name': 'j', 'controller-uid': metadata.uid } } },
    });
  });

  test('of a Service has an address, and a port on every node if it asks for one', () => {
    const spec = { ports: [{ port: 80 }], selector: { a: 'b' } };
    const created = create('', 'services', { metadata: { name: 's' }, spec: { ...spec, type: 'NodePort' } });
    expect(created['spec']).toMatchObject({
      clusterIP: expect.stringMatching(/^10\.96\./),
      ports: [{ port: 80, protocol: 'TCP', targetPort: 80, nodePort: expect.any(Number) }],
      ipFamilies: ['IPv4'],
    });
    const headless = create('', 'services', { metadata: { name: 'h' }, spec: { ...spec, clusterIP: 'None' } });
    expect(headless['spec']).toMatchObject({ clusterIP: 'None', clusterIPs: ['None'] });
  });
});

const refusals = [
  {
    name: 'a selector that misses its template',
    group: 'apps',
    resource: 'deployments',
    body: deployment({ selector: { matchLabels: { x: 'y' } } }),
    message: 'does not match template',
  },
  {
    name: 'a negative number of replicas',
    group: 'apps',
    resource: 'deployments',
    body: deployment({ replicas: -1 }),
    message: 'must be greater than or equal to 0',
  },
  {
    name: 'a pod without containers',
    group: '',
    resource: 'pods',
    body: pod({ containers: [] }),
    message: 'spec.containers: Required value',
  },
  {
    name: 'a pod of an unknown account',
    group: '',
    resource: 'pods',
    body: pod({ serviceAccountName: 'x' }),
    message: 'serviceaccount "x" not found',
  },
  {
    name: 'a Job whose pods always restart',
    group: 'batch',
    resource: 'jobs',
    body: { metadata: { name: 'j' }, spec: { template } },
    message: 'Required value: valid values: "OnFailure", "Never"',
  },
  {
    name: 'a name in capitals',
    group: '',
    resource: 'configmaps',
    body: { metadata: { name: 'A' } },
    message: 'a lowercase RFC 1123 subdomain',
  },
  {
    name: 'no name',
    group: '',
    resource: 'configmaps',
    body: { metadata: {} },
    message: 'name or generateName is required',
  },
];

describe('validation refuses', () => {
  for (const { name, group, resource, body, message } of refusals) {
    test(name, () => expect(() => create(group, resource, body)).toThrow(message));
  }
});

describe('an update', () => {
  test('counts changes of the specification, and of nothing else', () => {
    const created = create('apps', 'deployments', deployment());
    const labelled = update('apps', 'deployments', {
      ...created,
      metadata: { ...created.metadata, labels: { x: 'y' } },
    });
    expect(labelled.metadata.generation).toBe(1);
    const scaled = update('apps', 'deployments', {
      ...labelled,
      spec: { ...(labelled['spec'] as Fields), replicas: 3 },
    });
    expect(scaled.metadata.generation).toBe(2);
    const reported = update('apps', 'deployments', { ...scaled, spec: {}, status: { replicas: 3 } }, 'status');
    expect(reported).toMatchObject({ metadata: { generation: 2 }, spec: { replicas: 3 }, status: { replicas: 3 } });
  });

  test('that changes nothing leaves the version as it is', () => {
    const created = create('apps', 'deployments', deployment());
    const same = update('apps', 'deployments', structuredClone(created));
    expect(same.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
  });

  test('of a selector is refused', () => {
    const created = create('apps', 'deployments', deployment());
    const labels = { a: 'b', c: 'd' };
    const spec = {
      ...(created['spec'] as Fields),
      selector: { matchLabels: labels },
      template: { ...template, metadata: { labels } },
    };
    expect(() => update('apps', 'deployments', { ...created, spec })).toThrow('field is immutable');
  });
});

describe('a delete', () => {
  const remove = (group: string, name: string, key: string, deletion: object = {}) =>
    deleteObject(api, { resource: api.registry.get(group, 'v1', name), key: objectKey('default', key) }, deletion, {
      dryRun: false,
    });

  test('waits for finalizers, and for the kubelet of a running pod', () => {
    create('', 'configmaps', { metadata: { name: 'c', finalizers: ['example.com/x'] } });
    expect(remove('', 'configmaps', 'c').removed).toBe(false);
    create('', 'pods', pod({ nodeName: 'n' }));
    const { removed, entry } = remove('', 'pods', 'p');
    expect(removed).toBe(false);
    expect(entry.object.metadata).toMatchObject({
      deletionGracePeriodSeconds: 30,
      deletionTimestamp: '2026-01-01T00:00:30Z',
    });
    expect(remove('', 'pods', 'p', { gracePeriodSeconds: 0 }).removed).toBe(true);
  });

  test('stores the propagation policy as a finalizer', () => {
    create('apps', 'deployments', deployment());
    const { entry } = remove('apps', 'deployments', 'd', { propagationPolicy: 'Foreground' });
    expect(entry.object.metadata.finalizers).toEqual(['foregroundDeletion']);
  });
});
