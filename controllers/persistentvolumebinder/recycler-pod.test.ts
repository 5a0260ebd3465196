import { describe, expect, test } from 'vitest';

import { persistentVolume } from '../../test/support/builders.ts';
import { composeRecyclerPod, defaultTemplate } from './recycler-pod.ts';
import { parseRecyclerTemplate } from './recycler-template.ts';

const recyclers = {
  hostPath: { template: defaultTemplate, minimumSeconds: 60, secondsPerGi: 30 },
  nfs: { template: defaultTemplate, minimumSeconds: 300, secondsPerGi: 30 },
};
const volumeOf = (spec: Parameters<typeof persistentVolume>[0] = {}) => persistentVolume({ name: 'disk', ...spec });
const hostPath = { path: '/tmp/x', type: '' };
const nfs = { server: 'a.example.com', path: '/data', readOnly: true };

describe('composeRecyclerPod', () => {
  test('mounts a directory, in the namespace default', () =>
    expect(composeRecyclerPod(volumeOf({ spec: { hostPath } }), recyclers)).toMatchObject({
      metadata: { namespace: 'default', name: 'recycler-for-disk' },
      spec: { restartPolicy: 'Never', volumes: [{ name: 'vol', hostPath: { path: '/tmp/x' } }] },
    }));

  test('mounts an export', () =>
    expect(composeRecyclerPod(volumeOf({ spec: { nfs } }), recyclers)?.spec.volumes).toEqual([
      { name: 'vol', nfs: { server: 'a.example.com', path: '/data' } },
    ]));

  test('cannot recycle other volumes', () => expect(composeRecyclerPod(volumeOf(), recyclers)).toBeUndefined());

  test.each([
    ['the minimum', '2Gi', 60],
    ['the time for its size', '3Gi', 90],
    ['the time for its whole GiB', '3.9Gi', 90],
  ])('gives the pod %s', (_time, storage, expected) => {
    const volume = volumeOf({ spec: { hostPath, capacity: { storage } } });
    expect(composeRecyclerPod(volume, recyclers)?.spec.activeDeadlineSeconds).toBe(expected);
  });

  test('replaces the source of the first volume of a template, and keeps the rest', () => {
    const template = parseRecyclerTemplate(`
      apiVersion: v1
      kind: Pod
      metadata: { generateName: mine-, namespace: system, labels: { app: recycler } }
      spec:
        containers: [{ name: main, image: mine }]
        volumes: [{ name: data, emptyDir: {} }, { name: other, emptyDir: {} }]`);
    const pod = composeRecyclerPod(volumeOf({ spec: { hostPath } }), {
      ...recyclers,
      hostPath: { ...recyclers.hostPath, template },
    });
    expect(pod).toEqual({
      metadata: { namespace: 'system', labels: { app: 'recycler' }, name: 'recycler-for-disk' },
      spec: {
        activeDeadlineSeconds: 60,
        containers: [{ name: 'main', image: 'mine' }],
        volumes: [
          { name: 'data', hostPath: { path: '/tmp/x' } },
          { name: 'other', emptyDir: {} },
        ],
      },
    });
  });
});

describe('parseRecyclerTemplate refuses', () => {
  test.each([
    ['an empty file', ' \n', 'file was empty'],
    ['another kind', '{"apiVersion":"v1","kind":"Node","spec":{"volumes":[{"name":"a"}]}}', 'kind must be Pod'],
    ['another version', '{"apiVersion":"v2","kind":"Pod","spec":{"volumes":[{"name":"a"}]}}', 'apiVersion must be v1'],
    ['a pod without specification', '{"apiVersion":"v1","kind":"Pod"}', 'spec is missing'],
    ['a pod without volumes', '{"apiVersion":"v1","kind":"Pod","spec":{}}', 'does not contain any volume(s)'],
    [
      'a pod with an empty list of volumes',
      '{"apiVersion":"v1","kind":"Pod","spec":{"volumes":[]}}',
      'does not contain any volume(s)',
    ],
  ])('%s', (_what, text, message) => expect(() => parseRecyclerTemplate(text)).toThrow(message));
});
