import { describe, expect, test } from 'vitest';

import { bytesOf } from './http1-request.ts';

const lines = (...all: string[]): string => all.join('\r\n');

describe('a request', () => {
  test('has its headers in the given order, and its body', () => {
    const headers = ['accept', 'a/b', 'content-length', '5'];
    const request = { method: 'PUT', path: '/api?x=%C3%BC', headers, body: 'hellö' };
    expect(bytesOf(request, 'host:1')).toBe(
      lines('PUT /api?x=%C3%BC HTTP/1.1', 'host: host:1', 'accept: a/b', 'content-length: 5', '', 'hellö'),
    );
  });

  test('without a body says so, where the server expects one', () => {
    const of = (method: string): string => bytesOf({ method, path: '/', headers: [] }, 'h');
    expect(of('POST')).toBe(lines('POST / HTTP/1.1', 'host: h', 'content-length: 0', '', ''));
    expect(of('GET')).toBe(lines('GET / HTTP/1.1', 'host: h', '', ''));
    expect(of('DELETE')).toBe(lines('DELETE / HTTP/1.1', 'host: h', '', ''));
  });

  for (const path of ['/a b', '/a\r\nx: y', '/ü', '/a\0']) {
    test(`with the path ${JSON.stringify(path)} is refused`, () => {
      expect(() => bytesOf({ method: 'GET', path, headers: [] }, 'h')).toThrow(/needs an escape/);
    });
  }

  for (const value of ['a\r\nx: y', 'a\nb', 'a\0', '\u007f']) {
    test(`with the header ${JSON.stringify(value)} is refused`, () => {
      expect(() => bytesOf({ method: 'GET', path: '/', headers: ['a', value] }, 'h')).toThrow(/does not allow/);
    });
  }
});
