import { createSelfSigned } from '../../pkg/certificates/index.ts';

const dayMs = 86_400_000;

/** For TLS servers of tests: the certificate is its own authority. */
export const { certificate, privateKey } = createSelfSigned({
  commonName: 'loopback',
  hosts: ['127.0.0.1'],
  usages: ['server'],
  validity: { fromMs: Date.now() - dayMs, untilMs: Date.now() + dayMs },
});
