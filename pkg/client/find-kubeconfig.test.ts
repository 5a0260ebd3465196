import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { ConfigError } from './errors.ts';
import { findKubeconfig } from './find-kubeconfig.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'find-'));
  mkdirSync(join(directory, '.kube'));
  for (const name of ['a', 'b', '.kube/config']) writeFileSync(join(directory, name), '');
});
afterAll(() => rmSync(directory, { recursive: true }));

const inPod = { KUBERNETES_SERVICE_HOST: '10.0.0.1' };

/** Paths relative to the directory. */
function find(path: string | undefined, environment: Readonly<Record<string, string>>): readonly string[] {
  const absolute = Object.entries(environment).map(([name, value]) => [name, value.replaceAll('~', directory)]);
  const { paths } = findKubeconfig(path, Object.fromEntries(absolute));
  return paths.map((each) => each.replace(directory, '~'));
}

describe('findKubeconfig', () => {
  const rows: readonly { name: string; path?: string; environment: Record<string, string>; expected: string[] }[] = [
    {
      name: 'takes a given path alone, even if it does not exist',
      path: '/given',
      environment: { KUBECONFIG: '~/a', HOME: '~' },
      expected: ['/given'],
    },
    {
      name: 'takes the files of KUBECONFIG in order',
      environment: { KUBECONFIG: '~/b:~/a' },
      expected: ['~/b', '~/a'],
    },
    {
      name: 'leaves out files that do not exist, empty names and repeated ones',
      environment: { KUBECONFIG: ':~/no:~/a::~/a' },
      expected: ['~/a'],
    },
    { name: 'prefers KUBECONFIG to the home', environment: { KUBECONFIG: '~/a', HOME: '~' }, expected: ['~/a'] },
    { name: 'takes that of the home', environment: { HOME: '~' }, expected: ['~/.kube/config'] },
    { name: 'prefers the home to the pod', environment: { HOME: '~', ...inPod }, expected: ['~/.kube/config'] },
    { name: 'takes the pod where there is no file', environment: { HOME: '/no', ...inPod }, expected: [] },
    {
      name: 'does not look at the home where KUBECONFIG is set',
      environment: { KUBECONFIG: '~/no', HOME: '~', ...inPod },
      expected: [],
    },
  ];
  for (const { name, path, environment, expected } of rows) {
    test(name, () => expect(find(path, environment)).toEqual(expected));
  }

  test('says where it looked', () => {
    expect(() => findKubeconfig(undefined, { HOME: '/no' })).toThrow(ConfigError);
    expect(() => findKubeconfig(undefined, { HOME: '/no' })).toThrow(
      'no kubeconfig: /no/.kube/config: no such file, and this is not a pod with a service account',
    );
    expect(() => findKubeconfig(undefined, {})).toThrow(/^no kubeconfig: KUBECONFIG is not set,/);
  });
});
