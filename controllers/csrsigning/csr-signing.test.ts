import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, test } from 'vitest';

import { CertificateSigningRequests, type CertificateSigningRequest } from '../../pkg/api/index.ts';
import { createAuthority } from '../../pkg/certificates/index.ts';
import { createRequest, kubeletClient, nodeSubject } from '../../test/support/certificate-requests.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { createCsrSigning } from './csr-signing.ts';

const directory = mkdtempSync(join(tmpdir(), 'signing-'));
afterAll(() => rmSync(directory, { recursive: true }));

const authority = createAuthority({
  commonName: 'kubernetes',
  validity: { fromMs: Date.UTC(1960, 0), untilMs: Date.UTC(2100, 0) },
});
const files = { certFile: join(directory, 'ca.crt'), keyFile: join(directory, 'ca.key') };
writeFileSync(files.certFile, authority.certificate);
writeFileSync(files.keyFile, authority.privateKey);

async function whileSigning(use: (stage: TestContext) => Promise<void>): Promise<void> {
  const stage = createTestContext();
  const signers = [{ name: 'kubernetes.io/kube-apiserver-client-kubelet', ...files }] as const;
  const options = { signers, maxDurationMs: 3_600_000 };
  await whileRunning(stage, createCsrSigning(stage.context, options), () => use(stage));
}

async function seed(
  { server }: TestContext,
  name: string,
  change: { readonly spec?: object; readonly status?: object } = {},
): Promise<void> {
  const { request } = await createRequest(nodeSubject('a'));
  const approved = { conditions: [{ type: 'Approved', status: 'True' }] };
  const spec = { ...kubeletClient, request: Buffer.from(request).toString('base64'), ...change.spec };
  server.seed(CertificateSigningRequests, {
    metadata: { name },
    spec,
    status: { ...approved, ...change.status },
  });
}

const stored = ({ server }: TestContext, wanted: string): CertificateSigningRequest | undefined =>
  server.stored(CertificateSigningRequests).find(({ metadata }) => metadata.name === wanted);

describe('an approved request', () => {
  test('gets a certificate, once', async () => {
    await whileSigning(async (stage) => {
      await seed(stage, 'node');
      await expect.poll(() => stored(stage, 'node')?.status?.certificate).toBeDefined();
      const pem = Buffer.from(stored(stage, 'node')?.status?.certificate ?? '', 'base64');
      const certificate = new X509Certificate(pem);
      expect(certificate.checkIssued(new X509Certificate(authority.certificate))).toBe(true);
      expect(certificate.validToDate.getTime()).toBe(Math.floor(stage.clock.now() / 1000) * 1000 + 3_600_000);
      await stage.clock.advance(60_000);
      await settle();
      expect(stage.client.writes).toHaveLength(1);
    });
  });

  test('fails permanently when it violates the rules of its signer', async () => {
    await whileSigning(async (stage) => {
      await seed(stage, 'bad', { spec: { usages: ['client auth'] } });
      await expect.poll(() => stored(stage, 'bad')?.status?.conditions?.length).toBe(2);
      expect(stored(stage, 'bad')?.status?.conditions?.[1]).toMatchObject({
        type: 'Failed',
        status: 'True',
        reason: 'SignerValidationFailure',
        message: 'usages did not match [client auth digital signature key encipherment]',
      });
      await stage.clock.advance(60_000);
      await settle();
      expect(stage.client.writes).toHaveLength(1);
    });
  });
});

describe('nothing is written for', () => {
  const rows = [
    { name: 'a request that is not approved', change: { status: { conditions: [] } } },
    {
      name: 'a request that is approved and denied',
      change: {
        status: {
          conditions: [
            { type: 'Approved', status: 'True' },
            { type: 'Denied', status: 'True' },
          ],
        },
      },
    },
    { name: 'a request with a certificate', change: { status: { certificate: 'eA==' } } },
    { name: 'a request of another signer', change: { spec: { signerName: 'example.com/other' } } },
  ];
  for (const { name, change } of rows) {
    test(name, async () => {
      await whileSigning(async (stage) => {
        await seed(stage, 'x', change);
        await settle();
        await stage.clock.advance(60_000);
        await settle();
        expect(stage.client.writes).toEqual([]);
      });
    });
  }
});
