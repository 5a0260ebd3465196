import { describe, expect, test } from 'vitest';

import { ApiError, AttemptError } from './errors.ts';
import { goMessage } from './go-messages.ts';

const plain = (code: number, text: string): ApiError =>
  new ApiError('get', { code, message: text }, { plainText: text });

describe('goMessage', () => {
  const rows: [name: string, error: Error, message: string][] = [
    ['a Status has its own message', new ApiError('get', { code: 404, message: 'no such pod' }), 'no such pod'],
    [
      'a path that is not served',
      plain(404, '404 page not found'),
      'the server could not find the requested resource (get a.b)',
    ],
    [
      'an aggregated API that is down',
      new AttemptError('read', plain(503, 'service unavailable')),
      'the server is currently unable to handle the request (get a.b)',
    ],
    [
      'another error of the server',
      plain(500, 'a "bug"'),
      'an error on the server ("a \\"bug\\"") has prevented the request from succeeding (get a.b)',
    ],
    ['a text of the server about permissions', plain(403, 'you may not'), 'you may not (get a.b)'],
    [
      'an unknown code',
      plain(418, 'teapot'),
      'the server responded with the status code 418 but did not return more information (get a.b)',
    ],
    ['no response', new Error('connection refused'), 'connection refused'],
  ];
  test.each(rows)('%s', (_name, error, message) => expect(goMessage(error, 'get a.b')).toBe(message));
});
