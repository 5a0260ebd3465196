import { describe, expect, test } from 'vitest';

import { fnv1a128, sortSlicePorts, sortSubsetPorts, sortSubsets } from './go-order.ts';

// The sums are what the Go standard library and the dump package of Kubernetes 1.36 give for these structures.
const http = { name: 'http', protocol: 'TCP', port: 8080 };
const dns = { name: '', protocol: 'UDP', port: 53, appProtocol: 'kubernetes.io/h2c' };

describe('fnv1a128', () => {
  const rows = [
    { text: '', sum: '6c62272e07bb014262b821756295c58d' },
    {
      text: '(v1.EndpointPort){Name:(*string)http Protocol:(*v1.Protocol)TCP Port:(*int32)8080 AppProtocol:(*string)<nil>}',
      sum: '0e874d5677090ee5c32afa85f637c347',
    },
    {
      text: '(v1.EndpointPort){Name:(string) Port:(int32)53 Protocol:(v1.Protocol)UDP AppProtocol:(*string)kubernetes.io/h2c}',
      sum: 'ea9d9c8cd570cf68ee86bf918262ae86',
    },
  ];
  for (const { text, sum } of rows) test(`of ${JSON.stringify(text)}`, () => expect(fnv1a128(text)).toBe(sum));
});

describe('ports and subsets are sorted by their hashes', () => {
  test('ports of slices: 0e87… before 32d2…', () => {
    expect(sortSlicePorts([dns, http])).toEqual([http, dns]);
  });

  test('ports of subsets: 2530… before ea9d…', () => {
    expect(sortSubsetPorts([dns, http])).toEqual([http, dns]);
  });

  test('subsets: de77… before e165…', () => {
    const pod = { kind: 'Pod', namespace: 'ns', name: 'p', uid: 'u-1' };
    const address = { ip: '10.0.0.1', nodeName: 'node-1', targetRef: pod };
    const ready = { addresses: [address, { ip: '10.0.0.2', hostname: 'h' }], ports: [http] };
    const notReady = { notReadyAddresses: [address] };
    expect(sortSubsets([notReady, ready])).toEqual([ready, notReady]);
  });
});
