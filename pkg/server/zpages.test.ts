import { describe, expect, test } from 'vitest';
import { firstSegments, flagzPage, formatUnixDate, formatUptime, selectForm, statuszPage } from './zpages.ts';

describe('selectForm', () => {
  const rows = [
    { accept: '', form: { kind: 'text' } },
    { accept: '*/*', form: { kind: 'text' } },
    { accept: 'text/html, text/plain;q=0.9', form: { kind: 'text' } },
    { accept: 'application/json', form: { kind: 'unacceptable' } },
    { accept: 'application/json;as=Statusz;v=v1beta1;g=config.k8s.io', form: { kind: 'object', version: 'v1beta1' } },
    { accept: 'application/json;as=Statusz;v=v1;g=config.k8s.io', form: { kind: 'unacceptable' } },
    { accept: 'application/json;as=Flagz;v=v1beta1;g=config.k8s.io', form: { kind: 'unacceptable' } },
    { accept: 'application/json;as=Flagz;v=v1beta1;g=config.k8s.io, text/plain', form: { kind: 'text' } },
  ];
  for (const { accept, form } of rows) {
    test(`answers "${accept}" with ${form.kind}`, () => expect(selectForm(accept, 'Statusz')).toEqual(form));
  }
});

describe('pages', () => {
  const facts = {
    startedAtMs: Date.UTC(2026, 10, 2, 3, 4, 5),
    nowMs: Date.UTC(2026, 10, 2, 4, 4, 10),
    binaryVersion: '1.36.4',
    emulationVersion: '1.36',
    runtimeVersion: 'v26.0.0',
    paths: ['/metrics', '/metrics/slis', '/healthz'],
  };

  test('statusz tells since when and what is here', () => {
    expect(statuszPage(facts, '', false).body).toContain(
      '\nStarted: Mon Nov  2 03:04:05 UTC 2026\nUp: 1 hr 00 min 05 sec\nRuntime version: v26.0.0\n' +
        'Binary version: 1.36.4\nEmulation version: 1.36\nPaths: /healthz /metrics\n',
    );
  });

  test('statusz is an object for programs, and warns of the old version', () => {
    const answer = statuszPage(facts, 'application/json;as=Statusz;v=v1alpha1;g=config.k8s.io', false);
    expect(JSON.parse(answer.body.toString())).toEqual({
      kind: 'Statusz',
      apiVersion: 'config.k8s.io/v1alpha1',
      metadata: { name: 'kube-controller-manager' },
      startTime: '2026-11-02T03:04:05Z',
      uptimeSeconds: 3605,
      goVersion: 'v26.0.0',
      binaryVersion: '1.36.4',
      emulationVersion: '1.36',
      paths: ['/healthz', '/metrics'],
    });
    expect(answer.headers['Warning']).toContain('deprecated');
  });

  test('flagz lists flags by name', () => {
    expect(flagzPage({ v: '2', 'bind-address': '::' }, '', false).body).toMatch(/\nbind-address=::\nv=2\n$/);
  });

  test('an unknown form is refused with a status', () => {
    expect(flagzPage({}, 'image/png', false)).toMatchObject({ code: 406 });
  });
});

test('firstSegments folds what is below one folder', () => {
  expect(firstSegments(['/b/c', '/b', '/a', '/'])).toEqual(['/a', '/b']);
});

test('formatUptime counts hours beyond a day', () => expect(formatUptime(90_061)).toBe('25 hr 01 min 01 sec'));
test('formatUnixDate pads the day with a blank', () => {
  expect(formatUnixDate(Date.UTC(2026, 0, 12))).toBe('Mon Jan 12 00:00:00 UTC 2026');
});
