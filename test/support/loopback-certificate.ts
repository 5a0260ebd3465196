import { createSelfSigned } from '../../pkg/certificates/index.ts';

const dayMs = 86_400_000;

/** A self-signed certificate for the TLS servers of tests. */
export const { certificate, privateKey } = createSelfSigned({
  commonName: 'loopback',
  hosts: ['127.0.0.1'],
  usages: ['server'],
  validity: { fromMs: Date.now() - dayMs, untilMs: Date.now() + dayMs },
});
