import { describe, expect, test } from 'vitest';
import { compileOpenPaths, parseTarget } from './paths.ts';

describe('parseTarget', () => {
  const rows = [
    { target: '/metrics', path: '/metrics' },
    { target: '/healthz?verbose&exclude=a', path: '/healthz' },
    { target: '/%6detrics', path: '/metrics' },
    { target: '/healthz/../metrics', path: '/healthz/../metrics' },
    { target: '/healthz%2f..%2fmetrics', path: '/healthz/../metrics' },
    { target: 'https://host:1/metrics?x', path: '/metrics' },
    { target: 'https://host', path: '/' },
    { target: '/%zz', path: undefined },
    { target: '*', path: undefined },
    { target: '', path: undefined },
  ];
  for (const { target, path } of rows) {
    test(`reads "${target}" as ${path}`, () => expect(parseTarget(target)?.path).toBe(path));
  }
});

describe('compileOpenPaths', () => {
  const isOpen = compileOpenPaths(['/healthz', 'livez', '/public/*', '/']);
  const rows = [
    { path: '/healthz', open: true },
    { path: '/livez', open: true },
    { path: '/', open: true },
    { path: '/public/a/b', open: true },
    { path: '/public', open: false },
    { path: '/healthz/leaderElection', open: false },
    { path: '/healthz/', open: false },
    { path: '/metrics', open: false },
  ];
  for (const { path, open } of rows) {
    test(`${open ? 'opens' : 'guards'} ${path}`, () => expect(isOpen(path)).toBe(open));
  }

  test('names its flag when a star stands inside', () => {
    expect(() => compileOpenPaths(['/a*b'])).toThrow('--authorization-always-allow-paths: only a trailing *');
  });
});
