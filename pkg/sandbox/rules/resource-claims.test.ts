import { beforeEach, describe, expect, test } from 'vitest';

import type { UntypedObject } from '../../api/index.ts';
import { refusalOf, SandboxApi } from '../../../test/support/sandbox-api.ts';

const claims = 'resourceclaims.resource.k8s.io';
const templates = 'resourceclaimtemplates.resource.k8s.io';
let sandbox: SandboxApi;
beforeEach(() => {
  sandbox = new SandboxApi();
});

const spec = (more: object = {}) => ({
  devices: { requests: [{ name: 'device', exactly: { deviceClassName: 'example.com', ...more } }] },
});
const claim = (more: object = {}) => ({ metadata: { name: 'x' }, spec: spec(more) });
const results = [{ request: 'device', driver: 'a', pool: 'b', device: 'c' }];
const allocation = { devices: { results } };
const reservedFor = [{ resource: 'pods', name: 'user', uid: 'user' }];
const setStatus = (object: UntypedObject, status: object): UntypedObject =>
  sandbox.update(claims, { ...object, status }, 'status');

test('a request is for one device', () => {
  const expected = { spec: spec({ allocationMode: 'ExactCount', count: 1 }) };
  expect(sandbox.create(claims, claim())).toMatchObject(expected);
  expect(sandbox.create(templates, { metadata: { name: 'x' }, spec: { spec: spec() } })).toMatchObject({
    spec: expected,
  });
  const all = { ...claim({ allocationMode: 'All' }), metadata: { name: 'y' } };
  expect(sandbox.create(claims, all)).toMatchObject({ spec: spec({ allocationMode: 'All' }) });
});

test('admin access needs a label of the namespace', () => {
  const why =
    'spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace';
  const create = (): unknown => sandbox.create(claims, claim({ adminAccess: true }));
  expect(refusalOf(create)).toEqual([why]);
  const template = { metadata: { name: 'x' }, spec: { spec: spec({ adminAccess: true }) } };
  expect(refusalOf(() => sandbox.create(templates, template))).toEqual([why]);
});

describe('the status of a claim', () => {
  test('has consumers only with an allocation, which does not change', () => {
    const created = sandbox.create(claims, claim());
    expect(refusalOf(() => setStatus(created, { reservedFor }))).toEqual([
      'status.reservedFor: Forbidden: may not be specified when `allocated` is not set',
    ]);
    const allocated = setStatus(created, { allocation, reservedFor });
    const other = { devices: { results: [{ ...results[0], device: 'd' }] } };
    expect(refusalOf(() => setStatus(allocated, { allocation: other }))).toHaveLength(1);
    expect(refusalOf(() => setStatus(allocated, {}))).toEqual([]);
  });

  test('says nothing about a device that is no longer allocated', () => {
    const devices = [{ driver: 'a', pool: 'b', device: 'c' }];
    const allocated = setStatus(sandbox.create(claims, claim()), { allocation, devices });
    expect(allocated['status']).toMatchObject({ devices });
    expect(setStatus(allocated, { devices })['status']).not.toHaveProperty('devices');
  });
});

test('specs of claims and templates do not change', () => {
  const created = sandbox.create(claims, claim());
  expect(refusalOf(() => sandbox.update(claims, { ...created, spec: spec({ count: 2 }) }))).toHaveLength(1);
  const template = sandbox.create(templates, { metadata: { name: 'x' }, spec: { spec: spec() } });
  const changed = { ...template, spec: { spec: spec({ count: 2 }) } };
  expect(refusalOf(() => sandbox.update(templates, changed))).toHaveLength(1);
});

test('taints of devices have the time at which they were set', () => {
  const slices = 'resourceslices.resource.k8s.io';
  const spec = (taints: object[]) => ({
    driver: 'example.com',
    nodeName: 'node',
    pool: { name: 'pool', generation: 1, resourceSliceCount: 1 },
    devices: [{ name: 'gpu', taints }],
  });
  const taint = { key: 'a', effect: 'NoExecute' };
  const created = sandbox.create(slices, { metadata: { name: 'x' }, spec: spec([taint]) });
  const dated = { ...taint, timeAdded: '2026-01-01T00:00:00Z' };
  expect(created).toMatchObject({ metadata: { generation: 1 }, spec: spec([dated]) });
  const updated = sandbox.update(slices, { ...created, spec: spec([dated, { key: 'b', effect: 'None' }]) });
  expect(updated).toMatchObject({ metadata: { generation: 2 }, spec: spec([dated, { timeAdded: dated.timeAdded }]) });
});
