import { describe, expect, test } from 'vitest';

import { systemClock } from '../../pkg/time/index.ts';
import { connect, watchFormat } from './connect.ts';
import type { Options } from './options.ts';

async function urlOf(master: string): Promise<string> {
  const options = { flags: { kubeconfig: '', master } } as Options;
  const pluginMetrics = { follow: () => () => undefined };
  const deps = { clock: systemClock, environment: {}, pluginMetrics };
  return (await connect(options, deps)).address.url;
}

describe('--master without --kubeconfig', () => {
  const rows: readonly [string, string][] = [
    ['127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['localhost:8080', 'http://localhost:8080'],
    ['localhost', 'http://localhost'],
    ['[::1]:8080', 'http://[::1]:8080'],
    ['https://127.0.0.1:6443/prefix', 'https://127.0.0.1:6443/prefix'],
  ];
  for (const [master, url] of rows) test(`${master} is ${url}`, async () => expect(await urlOf(master)).toBe(url));

  for (const master of ['localhost:8080/prefix', 'ftp://localhost', 'http://']) {
    test(`${master} is refused`, async () => {
      await expect(urlOf(master)).rejects.toThrow(`--master: "${master}" is not an http or https address`);
    });
  }
});

describe('--kube-api-content-type', () => {
  const rows: readonly [string, string][] = [
    ['application/vnd.kubernetes.protobuf', 'protobuf'],
    ['application/json', 'json'],
    ['', 'json'],
  ];
  for (const [type, format] of rows) {
    test(`${JSON.stringify(type)} makes watches ${format}`, () => {
      const options = { flags: { 'kube-api-content-type': type } } as Options;
      expect(watchFormat(options)).toBe(format);
    });
  }
});
