import { describe, expect, test } from 'vitest';

import { objectKey, type ResourceQuota, type UntypedObject } from '../../api/index.ts';
import { namespace, refusalOf, SandboxApi } from '../../../test/support/sandbox-api.ts';

type Amounts = Record<string, string>;

/** A sandbox with one quota, whose status is as the controller would write it. */
function withQuota(hard: Amounts, used: Amounts, more: object = {}): SandboxApi {
  const sandbox = new SandboxApi();
  const quota = sandbox.create('resourcequotas', { metadata: { name: 'limits' }, spec: { hard, ...more } });
  sandbox.update('resourcequotas', { ...quota, status: { hard, used } }, 'status');
  return sandbox;
}

function usedOf({ store }: SandboxApi): Amounts | undefined {
  const quota = store.get('resourcequotas', objectKey(namespace, 'limits'))?.object as unknown as ResourceQuota;
  return quota.status?.used;
}

const pod = (name: string, requests: Amounts = {}): object => ({
  metadata: { name },
  spec: { containers: [{ name: 'main', image: 'example', resources: { requests, limits: requests } }] },
});
const withType = (service: UntypedObject, type: string): UntypedObject => ({
  ...service,
  spec: { ...(service['spec'] as object), type },
});

describe('a quota in the sandbox', () => {
  test('charges new objects, and refuses what exceeds it', () => {
    const sandbox = withQuota({ pods: '2', 'requests.cpu': '1' }, { pods: '0', 'requests.cpu': '0' });
    sandbox.create('pods', pod('a', { cpu: '600m' }));
    expect(usedOf(sandbox)).toEqual({ pods: '1', 'requests.cpu': '600m' });
    expect(refusalOf(() => sandbox.create('pods', pod('b', { cpu: '0.5' })))).toEqual([
      'pods "b" is forbidden: exceeded quota: limits, requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1',
    ]);
    expect(refusalOf(() => sandbox.create('pods', pod('c')))).toEqual([
      'pods "c" is forbidden: failed quota: limits: must specify requests.cpu for: main',
    ]);
    expect(usedOf(sandbox)).toEqual({ pods: '1', 'requests.cpu': '600m' });
  });

  test('refuses what it limits until its usage is known', () => {
    const sandbox = withQuota({ configmaps: '5', secrets: '5' }, { secrets: '0' });
    expect(refusalOf(() => sandbox.create('configmaps', { metadata: { name: 'a' } }))).toEqual([
      'configmaps "a" is forbidden: status unknown for quota: limits, resources: configmaps',
    ]);
    sandbox.create('secrets', { metadata: { name: 'a' } });
    expect(usedOf(sandbox)).toEqual({ secrets: '1' });
  });

  test('without a status limits nothing', () => {
    const sandbox = new SandboxApi();
    sandbox.create('resourcequotas', { metadata: { name: 'limits' }, spec: { hard: { configmaps: '0' } } });
    expect(refusalOf(() => sandbox.create('configmaps', { metadata: { name: 'a' } }))).toEqual([]);
  });

  test('charges the difference of an update', () => {
    const sandbox = withQuota(
      { 'services.nodeports': '1', services: '5' },
      { 'services.nodeports': '0', services: '0' },
    );
    const ports = [{ port: 80 }];
    const [first, second] = ['a', 'b'].map((name) =>
      sandbox.create('services', { metadata: { name }, spec: { ports } }),
    );
    if (first === undefined || second === undefined) throw new TypeError('two services');
    const exposed = sandbox.update('services', withType(first, 'NodePort'));
    expect(usedOf(sandbox)).toEqual({ 'services.nodeports': '1', services: '2' });
    expect(refusalOf(() => sandbox.update('services', withType(second, 'NodePort')))[0]).toContain('exceeded quota');
    sandbox.update('services', withType(exposed, 'ClusterIP'));
    expect(usedOf(sandbox)).toEqual({ 'services.nodeports': '1', services: '2' }); // the controller frees it
  });

  test('charges what a volume claim grows by, whether in its spec or in its status', () => {
    const sandbox = withQuota({ 'requests.storage': '10Gi' }, { 'requests.storage': '0' });
    const sized = (storage: string) => ({ accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } });
    const claim = sandbox.create('persistentvolumeclaims', { metadata: { name: 'a' }, spec: sized('2Gi') });
    expect(usedOf(sandbox)).toEqual({ 'requests.storage': '2Gi' });
    const capacity = { storage: '2Gi' };
    const status = { phase: 'Bound', capacity, allocatedResources: { storage: '3Gi' } };
    sandbox.update('persistentvolumeclaims', { ...claim, status }, 'status');
    expect(usedOf(sandbox)).toEqual({ 'requests.storage': '3Gi' });
  });

  test('charges devices by class, and the difference of an update', () => {
    const gpus = 'gpu.deviceclass.resource.k8s.io/devices';
    const claims = 'count/resourceclaims.resource.k8s.io';
    const sandbox = withQuota({ [gpus]: '4', [claims]: '5' }, { [gpus]: '0', [claims]: '0' });
    const wanting = (name: string, count: number) => ({
      metadata: { name },
      spec: {
        devices: {
          requests: [{ name: 'x', exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count } }],
        },
      },
    });
    const claim = sandbox.create('resourceclaims.resource.k8s.io', wanting('a', 3));
    sandbox.update('resourceclaims.resource.k8s.io', { ...claim, metadata: { ...claim.metadata, labels: { a: 'b' } } });
    expect(usedOf(sandbox)).toEqual({ [gpus]: '3', [claims]: '1' });
    expect(refusalOf(() => sandbox.create('resourceclaims.resource.k8s.io', wanting('b', 2)))[0]).toContain(
      `exceeded quota: limits, requested: ${gpus}=2, used: ${gpus}=3, limited: ${gpus}=4`,
    );
  });

  test('charges only what its scopes match', () => {
    const sandbox = withQuota({ pods: '1' }, { pods: '0' }, { scopes: ['BestEffort'] });
    sandbox.create('pods', pod('sized', { cpu: '1' }));
    expect(usedOf(sandbox)).toEqual({ pods: '0' });
    sandbox.create('pods', pod('plain'));
    expect(usedOf(sandbox)).toEqual({ pods: '1' });
  });

  test('must be one that the API allows', () => {
    const sandbox = new SandboxApi();
    const create = (spec: object) =>
      refusalOf(() => sandbox.create('resourcequotas', { metadata: { name: 'bad' }, spec }));
    expect(create({ hard: { pods: '-1' } })).toEqual([
      'spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0',
    ]);
    expect(create({ scopes: ['Sometimes'] })[0]).toContain('unsupported scope');
    expect(create({ hard: { services: '1' }, scopes: ['BestEffort'] })[0]).toContain('scope applied to resource');
    const selector = (requirement: object) => ({ scopeSelector: { matchExpressions: [requirement] } });
    expect(create(selector({ scopeName: 'PriorityClass', operator: 'In' }))[0]).toContain('at least one value');
    expect(create(selector({ scopeName: 'Terminating', operator: 'DoesNotExist' }))[0]).toContain("must be 'Exists'");
    expect(create({ hard: { 'example.com/x': '1', pods: '1' }, scopes: ['BestEffort'] })).toEqual([]);
  });
});
