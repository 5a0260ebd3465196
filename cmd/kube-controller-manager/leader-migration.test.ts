import { describe, expect, test } from 'vitest';

import { exitCodes } from './exit-codes.ts';
import { parseLeaderMigration, placeController, readLeaderMigration, type Place } from './leader-migration.ts';

const kind = 'LeaderMigrationConfiguration';
const v1 = { apiVersion: 'controllermanager.config.k8s.io/v1', kind, leaderName: 'migration' };
const leaders = [
  { name: 'ttl-controller', component: 'kube-controller-manager' },
  { name: 'job-controller', component: '*' },
  { name: 'cronjob-controller', component: 'cloud-controller-manager' },
  { name: 'serviceaccount-token-controller', component: 'cloud-controller-manager' },
  { name: 'ttl', component: 'cloud-controller-manager' },
  { name: 'podgc', component: '*' },
  { name: 'namespace-controller', component: '*' },
  { name: 'namespace-controller', component: 'other' },
];

describe('parseLeaderMigration accepts', () => {
  const rows = [
    { name: 'v1', content: { ...v1, controllerLeaders: leaders } },
    {
      name: 'v1beta1',
      content: {
        ...v1,
        apiVersion: 'controllermanager.config.k8s.io/v1beta1',
        resourceLock: 'leases',
        controllerLeaders: leaders,
      },
    },
    {
      name: 'v1alpha1',
      content: {
        ...v1,
        apiVersion: 'controllermanager.config.k8s.io/v1alpha1',
        resourceLock: 'leases',
        controllerLeaders: leaders,
      },
    },
  ];
  for (const { name, content } of rows) {
    test(name, () =>
      expect(parseLeaderMigration(content)).toEqual({ leaderName: 'migration', controllerLeaders: leaders }),
    );
  }

  test('a file without controllers', () => {
    const empty = { leaderName: 'migration', controllerLeaders: [] };
    expect(parseLeaderMigration(v1)).toEqual(empty);
    expect(parseLeaderMigration({ ...v1, controllerLeaders: null })).toEqual(empty);
  });
});

describe('parseLeaderMigration refuses', () => {
  const alpha = { ...v1, apiVersion: 'controllermanager.config.k8s.io/v1alpha1' };
  const rows = [
    { name: 'an empty file', content: undefined, message: /expected object/ },
    {
      name: 'another kind',
      content: { ...v1, kind: 'KubeletConfiguration' },
      message: /^kind: .*LeaderMigrationConfiguration/,
    },
    { name: 'another version', content: { ...v1, apiVersion: 'v1' }, message: /^apiVersion: / },
    { name: 'no version', content: { kind, leaderName: 'x' }, message: /^apiVersion: / },
    { name: 'an unknown field', content: { ...v1, foo: 'bar' }, message: /foo/ },
    {
      name: 'a lock in v1, which always uses leases',
      content: { ...v1, resourceLock: 'leases' },
      message: /resourceLock/,
    },
    { name: 'no lock in v1alpha1', content: alpha, message: /^resourceLock: / },
    {
      name: 'a lock that no longer exists',
      content: { ...alpha, resourceLock: 'endpoints' },
      message: /^resourceLock: .*leases/,
    },
    {
      name: 'an empty name of the lease',
      content: { ...v1, leaderName: '' },
      message: /^leaderName: must not be empty/,
    },
    { name: 'a number as the name of the lease', content: { ...v1, leaderName: 7 }, message: /^leaderName: .*string/ },
    {
      name: 'a controller without a component',
      content: { ...v1, controllerLeaders: [{ name: 'job-controller' }] },
      message: /^controllerLeaders\.0\.component: /,
    },
    {
      name: 'a controller with an empty name',
      content: { ...v1, controllerLeaders: [{ name: '', component: '*' }] },
      message: /^controllerLeaders\.0\.name: must not be empty/,
    },
  ];
  for (const { name, content, message } of rows) {
    test(name, () => expect(() => parseLeaderMigration(content)).toThrow(message));
  }
});

describe('placeController', () => {
  const migration = { leaderName: 'migration', controllerLeaders: leaders };
  const rows: readonly (readonly [string, Place])[] = [
    ['deployment-controller', 'main'],
    ['ttl-controller', 'migrated'],
    ['job-controller', 'migrated'],
    ['cronjob-controller', 'unowned'],
    ['serviceaccount-token-controller', 'main'],
    ['pod-garbage-collector-controller', 'main'],
    ['namespace-controller', 'unowned'],
  ];
  for (const [name, expected] of rows) {
    test(`${name}: ${expected}`, () => expect(placeController(migration, name)).toBe(expected));
  }
});

describe('readLeaderMigration', () => {
  test('has a default without a file', async () => {
    const migration = await readLeaderMigration('');
    expect(migration.leaderName).toBe('cloud-provider-extraction-migration');
    expect(placeController(migration, 'cloud-node-lifecycle-controller')).toBe('migrated');
    expect(placeController(migration, 'service-lb-controller')).toBe('main');
  });

  test('names the flag if it cannot read the file', async () => {
    await expect(readLeaderMigration('/nowhere.yaml')).rejects.toThrow(
      expect.objectContaining({
        exitCode: exitCodes.environment,
        message: expect.stringMatching(/^--leader-migration-config: cannot read the file: .*nowhere/),
      }),
    );
  });
});
