import { describe, expect, test } from 'vitest';

import { container, deployment, pod, secret } from '../../test/support/builders.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { finishedRequest, leadInTest } from '../../test/support/loop-harness.ts';
import { Deployments, keyOf, Pods, Secrets, type Cached, type Secret } from '../api/index.ts';
import { decided } from '../controller/index.ts';
import { Loop } from './loop.ts';
import { createLoopPages } from './pages.ts';

const value = 'c2VzYW1l';
const credentials = secret(
  { name: 'credentials', annotations: { 'kubectl.kubernetes.io/last-applied-configuration': `{"data":"${value}"}` } },
  { data: { password: value, key: value, name: value, message: value } },
);
const spec = { containers: [container({ env: [{ name: 'PASSWORD', value }], args: [value] })] };

/** A controller that reads Secrets and plans with them, as that of tokens does. */
async function setUp() {
  const clock = new FakeClock();
  const loop = new Loop(clock);
  const { caches, storeOf, work } = leadInTest(loop, clock);
  caches.set(Secrets, credentials);
  caches.set(Pods, pod({ name: 'a', spec, annotations: { password: value } }));
  const template = { metadata: {}, spec };
  caches.set(Deployments, deployment({ name: 'web', spec: { template } }));
  const secrets = storeOf(Secrets);
  const reconcile = async (key: ReturnType<typeof keyOf>): Promise<object> => {
    const found = secrets.get(key);
    secrets.list();
    secrets.byIndex({ name: 'type', valuesOf: ({ type }: Cached<Secret>) => [type ?? ''] }, 'Opaque');
    decided({
      actions: [
        { kind: 'createSecret', secret: found },
        { kind: 'patch', key, data: found?.data },
      ],
    });
    decided({ secret: found, all: secrets.list(), data: found?.data, token: value });
    decided(found);
    loop.requestFinished(finishedRequest(`update secrets ${key}`));
    return {};
  };
  const { queue } = work(reconcile, { kind: Secrets, name: 'token-controller' });
  const pages = createLoopPages({ loop, clock, settings: { name: 'test', tries: [] }, files: new Map() });
  loop.look();
  await clock.advance(1);
  queue.add(keyOf(credentials));
  await clock.advance(1);

  /** Everything at a path; of a stream, what is sent in the first seconds. */
  const read = async (target: string): Promise<string> => {
    const stop = new AbortController();
    const { pathname, searchParams } = new URL(target, 'http://localhost/');
    const asked = pages.answer({ method: 'GET', path: pathname.slice(1), query: searchParams }, stop.signal);
    await clock.advance(2000);
    const answer = await asked;
    if ('body' in answer) return answer.body.toString();
    let text = '';
    answer.stream.on('data', (message: string) => (text += message));
    await clock.advance(5000);
    stop.abort();
    await clock.advance(1);
    return text;
  };
  return { loop, read };
}

describe('the contents of a Secret are not in', () => {
  const rows = [
    { target: 'objects/secrets/default/credentials', has: 'create secret credentials' },
    { target: 'objects/secrets/default/credentials?format=text', has: 'create secret credentials' },
    { target: 'objects/pods/default/a', has: '"kind":"Pod"' },
    { target: 'objects/pods/default/a?format=text', has: 'Pod default/a' },
    { target: 'objects/deployments/default/web', has: '"kind":"Deployment"' },
    { target: 'stream', has: '"secrets"' },
    { target: 'stream?object=secrets/default/credentials', has: 'update secrets default/credentials' },
    { target: 'settings', has: 'test' },
  ];
  for (const { target, has } of rows) {
    test(`/${target}`, async () => {
      const { read } = await setUp();
      const text = await read(target);
      expect(text).toContain(has);
      expect(text).not.toContain(value);
    });
  }

  test('the state of the loop', async () => {
    const { loop } = await setUp();
    const text = JSON.stringify(loop.state());
    expect(text).toContain('token-controller');
    expect(text).not.toContain(value);
  });
});
