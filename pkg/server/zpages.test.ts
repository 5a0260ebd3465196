import { describe, expect, test } from 'vitest';
import { firstSegments, flagzPage, formatUnixDate, formatUptime, selectForm, statuszPage } from './zpages.ts';

const asks = (accept: string, cbor = false) => ({ accept, pretty: false, cbor });
const asked = 'as=Statusz;v=v1beta1;g=config.k8s.io';

describe('selectForm', () => {
  const text = { kind: 'text' };
  const object = { kind: 'object', encoding: 'json', version: 'v1beta1', pretty: false };
  const unacceptable = { kind: 'unacceptable', encoding: undefined };
  const rows = [
    { accept: '', form: text },
    { accept: '*/*', form: text },
    { accept: '*', form: text },
    { accept: 'text/plain;charset=utf-8', form: text },
    { accept: 'text/html, text/plain;q=0.9', form: text },
    { accept: `text/plain;${asked}`, form: unacceptable },
    { accept: 'application/json', form: { kind: 'unacceptable', encoding: 'json' } },
    { accept: 'application/yaml', form: { kind: 'unacceptable', encoding: 'yaml' } },
    { accept: 'application/*', form: { kind: 'unacceptable', encoding: 'json' } },
    { accept: 'application/cbor', form: unacceptable },
    { accept: 'application/cbor', cbor: true, form: { kind: 'unacceptable', encoding: 'cbor' } },
    { accept: `application/json;${asked}`, form: object },
    { accept: `application/json;${asked};pretty=1`, form: { ...object, pretty: true } },
    { accept: `application/yaml;${asked}`, form: { ...object, encoding: 'yaml' } },
    { accept: `application/cbor;${asked}`, form: unacceptable },
    { accept: `application/cbor;${asked}`, cbor: true, form: { ...object, encoding: 'cbor' } },
    { accept: `application/*;${asked}`, form: object },
    { accept: `*/*;${asked}`, form: object },
    { accept: `text/plain;q=0.5,application/yaml;${asked};q=0.9`, form: { ...object, encoding: 'yaml' } },
    { accept: `application/json;${asked};stream=watch`, form: unacceptable },
    { accept: `application/json;${asked};sv=v1`, form: unacceptable },
    { accept: `application/json;${asked};odd=1`, form: object },
    { accept: 'application/json;v=v1beta1', form: unacceptable },
    { accept: 'application/json;as=Statusz;v=v1;g=config.k8s.io', form: unacceptable },
    { accept: 'application/json;as=Flagz;v=v1beta1;g=config.k8s.io', form: unacceptable },
    { accept: 'application/json;as=Flagz;v=v1beta1;g=config.k8s.io, text/plain', form: text },
  ];
  for (const { accept, cbor, form } of rows) {
    test(`answers "${accept}"${cbor === true ? ' with CBOR served' : ''} with ${JSON.stringify(form)}`, () =>
      expect(selectForm(asks(accept, cbor), 'Statusz')).toEqual(form));
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

  test('statusz has the start time, versions and paths', () => {
    expect(statuszPage(facts, asks('')).body).toContain(
      '\nStarted: Mon Nov  2 03:04:05 UTC 2026\nUp: 1 hr 00 min 05 sec\nRuntime version: v26.0.0\n' +
        'Binary version: 1.36.4\nEmulation version: 1.36\nPaths: /healthz /metrics\n',
    );
  });

  test('statusz is an object for programs, and warns of the old version', () => {
    const answer = statuszPage(facts, asks('application/json;as=Statusz;v=v1alpha1;g=config.k8s.io'));
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
    expect(flagzPage({ v: '2', 'bind-address': '::' }, asks('')).body).toMatch(/\nbind-address=::\nv=2\n$/);
  });

  test('flagz as YAML sorts its fields and quotes text that looks like a number', () => {
    const answer = flagzPage({ v: '2' }, asks('application/yaml;as=Flagz;v=v1beta1;g=config.k8s.io'));
    expect(answer.headers['Content-Type']).toBe('application/yaml;g=config.k8s.io;v=v1beta1;as=Flagz');
    expect(answer.body).toBe(
      "apiVersion: config.k8s.io/v1beta1\nflags:\n  v: '2'\nkind: Flagz\nmetadata:\n  name: kube-controller-manager\n",
    );
  });

  test('flagz as CBOR has the bytes of the Go binary', () => {
    const { body } = flagzPage({}, asks('application/cbor', true));
    const message =
      'only the following media types are accepted: application/json, application/yaml, text/plain, application/cbor';
    const status = `DkindFStatusJapiVersionBv1Hmetadata\xa0FstatusGFailureGmessageXm${message}`;
    expect(body.toString('latin1')).toBe(`\xd9\xd9\xf7\xa7${status}FreasonMNotAcceptableDcode\x19\x01\x96`);
  });

  test('an unknown form is refused with a status', () => {
    expect(flagzPage({}, asks('image/png'))).toMatchObject({ code: 406 });
  });
});

test('firstSegments folds what is below one folder', () => {
  expect(firstSegments(['/b/c', '/b', '/a', '/'])).toEqual(['/a', '/b']);
});

test('formatUptime counts hours beyond a day', () => expect(formatUptime(90_061)).toBe('25 hr 01 min 01 sec'));
test('formatUnixDate pads the day with a blank', () => {
  expect(formatUnixDate(Date.UTC(2026, 0, 12))).toBe('Mon Jan 12 00:00:00 UTC 2026');
});
