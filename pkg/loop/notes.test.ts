import { describe, expect, test } from 'vitest';

import { deployment, secret } from '../../test/support/builders.ts';
import { Deployments, Pods, Secrets } from '../api/index.ts';
import type { FinishedRequest } from '../client/index.ts';
import { Notes } from './notes.ts';

const finished = (attempted: string, code = '201'): FinishedRequest => ({
  attempted,
  code,
  durationMs: 2,
  verb: 'POST',
  host: '127.0.0.1',
  requestBytes: 0,
  responseBytes: 0,
});

describe('reads', () => {
  test('are told with the version of the object, or that it was absent, or how many were found', () => {
    const notes = new Notes();
    notes.read(Deployments, { key: 'default/web', resourceVersion: '812' });
    notes.read(Deployments, { key: 'default/gone', resourceVersion: undefined });
    notes.read(Pods, { index: 'controller uid', value: 'uid-1', count: 3 });
    expect(notes.reads).toEqual([
      'Deployment default/web at version 812',
      'Deployment default/gone: not in the cache',
      '3 × Pod by controller uid uid-1',
    ]);
  });

  test('of the same object are told once, and again at another version', () => {
    const notes = new Notes();
    for (const resourceVersion of ['1', '1', '2']) notes.read(Pods, { key: 'default/a', resourceVersion });
    expect(notes.reads).toEqual(['Pod default/a at version 1', 'Pod default/a at version 2']);
  });

  test('are kept up to forty', () => {
    const notes = new Notes();
    for (let index = 0; index < 1000; index++) notes.read(Pods, { key: `default/${index}`, resourceVersion: '1' });
    expect(notes.reads).toHaveLength(40);
  });
});

describe('plans', () => {
  test('are told in words, also if nothing is to be changed', () => {
    const notes = new Notes();
    notes.decided({ actions: [{ kind: 'updateStatus', deployment: deployment({ name: 'web' }) }] });
    notes.decided({ actions: [] });
    expect(notes.plan).toEqual(['update status web replicas 1', 'change nothing']);
  });

  test('keep neither an object nor its secrets', () => {
    const notes = new Notes();
    notes.decided([{ kind: 'create', secret: secret({}, { data: { key: 'c2VzYW1l' } }) }]);
    notes.read(Secrets, { key: 'default/secret', resourceVersion: '1' });
    expect(JSON.stringify(notes)).not.toContain('c2VzYW1l');
    expect(notes.plan).toEqual(['create secret']);
  });

  test('are bounded', () => {
    const notes = new Notes();
    for (let index = 0; index < 1000; index++) notes.decided(`plan ${index}`);
    expect(notes.plan).toHaveLength(40);
  });
});

describe('requests', () => {
  test('are told with their code and duration', () => {
    const notes = new Notes();
    notes.requested(finished('create pods default/a'));
    expect(notes.requests).toEqual([{ attempted: 'create pods default/a', code: '201', durationMs: 2 }]);
  });

  test('that were refused have the message of the server, also if others finished meanwhile', () => {
    const notes = new Notes();
    notes.requested(finished('create pods default/a', '403'));
    notes.requested(finished('create pods default/b', '409'));
    notes.requested(finished('create pods default/c'));
    notes.refused({ attempted: 'create pods default/a', message: 'exceeded quota' });
    notes.refused({ attempted: 'create pods default/b', message: 'already exists' });
    expect(notes.requests.map(({ message }) => message)).toEqual(['exceeded quota', 'already exists', undefined]);
  });

  test('that were alike and refused at once have a message each', () => {
    const notes = new Notes();
    const attempted = 'create pods default/web-';
    for (let index = 0; index < 2; index++) notes.requested(finished(attempted, '403'));
    for (let index = 0; index < 2; index++) notes.refused({ attempted, message: 'exceeded quota' });
    expect(notes.requests.map(({ message }) => message)).toEqual(['exceeded quota', 'exceeded quota']);
  });

  test('that were repeated have the message of each refusal', () => {
    const notes = new Notes();
    const attempted = 'update deployments.apps default/web';
    notes.requested(finished(attempted, '<error>'));
    notes.requested(finished(attempted, '503'));
    notes.refused({ attempted, message: 'no' });
    notes.requested(finished(attempted, '429'));
    notes.refused({ attempted, message: 'not yet' });
    notes.requested(finished(attempted, '200'));
    expect(notes.requests.map(({ message }) => message)).toEqual([undefined, 'no', 'not yet', undefined]);
  });

  test('are kept up to forty, and the refusal of a later one is not told of another', () => {
    const notes = new Notes();
    for (let index = 0; index < 50; index++) notes.requested(finished(`create pods default/${index}`, '403'));
    notes.refused({ attempted: 'create pods default/49', message: 'exceeded quota' });
    expect(notes.requests).toHaveLength(40);
    expect(notes.requests.at(-1)?.message).toBeUndefined();
  });
});
