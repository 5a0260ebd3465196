import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createAuthority, createSelfSigned, issueAuthority, issueCertificate } from '../certificates/index.ts';
import type { CertificateRequest, KeyedCertificate } from '../certificates/index.ts';
import { findChainProblem, findSubjectProblem, selectCertificateUser } from './client-certificate.ts';

const validity = { fromMs: Date.UTC(2020, 0, 1), untilMs: Date.UTC(2060, 0, 1) };
const during = Date.UTC(2026, 0, 1);
const authority = createAuthority({ commonName: 'ca', validity });
const namesake = createAuthority({ commonName: 'ca', validity });
const shortLived = createAuthority({ commonName: 'old', validity: { ...validity, untilMs: Date.UTC(2025, 0, 1) } });

function client(issuer: KeyedCertificate, request: Partial<CertificateRequest> = {}): X509Certificate {
  const { certificate } = issueCertificate(issuer, { commonName: 'jane', usages: ['client'], validity, ...request });
  return new X509Certificate(certificate);
}

describe('findChainProblem', () => {
  const unknown = 'certificate signed by unknown authority';
  const expired = 'certificate has expired or is not yet valid';
  const rows = [
    { name: 'accepts a certificate of the CA', leaf: client(authority), nowMs: during, problem: undefined },
    { name: 'rejects another CA of the same name', leaf: client(namesake), nowMs: during, problem: unknown },
    {
      name: 'rejects a certificate that is not yet valid',
      leaf: client(authority),
      nowMs: validity.fromMs - 1,
      problem: expired,
    },
    { name: 'rejects an expired certificate', leaf: client(authority), nowMs: validity.untilMs + 1, problem: expired },
    { name: 'rejects a certificate of an expired CA', leaf: client(shortLived), nowMs: during, problem: unknown },
    {
      name: 'rejects the certificate of a server',
      leaf: client(authority, { usages: ['server'] }),
      nowMs: during,
      problem: 'certificate is not meant for client authentication',
    },
    {
      name: 'rejects a self-signed certificate',
      leaf: new X509Certificate(createSelfSigned({ commonName: 'jane', usages: ['client'], validity }).certificate),
      nowMs: during,
      problem: unknown,
    },
  ];
  const authorities = [authority, shortLived].map(({ certificate }) => new X509Certificate(certificate));
  for (const { name, leaf, nowMs, problem } of rows) {
    test(name, () => expect(findChainProblem({ leaf, intermediates: [] }, authorities, nowMs)).toBe(problem));
  }

  test('does not accept a client certificate as a CA', () => {
    const jane = issueCertificate(authority, { commonName: 'jane', usages: ['client'], validity });
    const leaf = client(jane, { commonName: 'root' });
    const intermediates = [new X509Certificate(jane.certificate)];
    expect(findChainProblem({ leaf, intermediates }, authorities, during)).toBe(unknown);
  });

  test('follows the intermediates in the chain of the client, and no others', () => {
    const middle = issueAuthority(authority, { commonName: 'middle', validity });
    const lower = issueAuthority(middle, { commonName: 'lower', validity });
    const leaf = client(lower);
    const [first, second] = [lower, middle].map(({ certificate }) => new X509Certificate(certificate));
    const intermediates = [first, second].filter((certificate) => certificate !== undefined);
    expect(findChainProblem({ leaf, intermediates }, authorities, during)).toBeUndefined();
    expect(findChainProblem({ leaf, intermediates: intermediates.slice(0, 1) }, authorities, during)).toBe(unknown);
    expect(findChainProblem({ leaf, intermediates: [] }, intermediates, during)).toBeUndefined();
  });

  test('ends when intermediates form a cycle', () => {
    const intermediates = [namesake, namesake, namesake].map(({ certificate }) => new X509Certificate(certificate));
    expect(findChainProblem({ leaf: client(namesake), intermediates }, authorities, during)).toBe(unknown);
  });
});

describe('selectCertificateUser', () => {
  test('reads name and groups as they were signed, and tells which certificate it was', () => {
    const certificate = client(authority, { commonName: 'jane, CN=root', organizations: ['dev', 'a\nO=b'] });
    const user = selectCertificateUser(certificate);
    expect(user).toMatchObject({ name: 'jane, CN=root', groups: ['dev', 'a\nO=b'] });
    expect(user?.extra?.['authentication.kubernetes.io/credential-id']?.[0]).toMatch(/^X509SHA256=[0-9a-f]{64}$/);
  });

  test('reads the uid', () => {
    expect(selectCertificateUser(client(authority, { uids: ['7'] }))).toMatchObject({ name: 'jane', uid: '7' });
    expect(selectCertificateUser(client(authority))).not.toHaveProperty('uid');
  });

  test('finds no user in a certificate without a common name', () => {
    expect(selectCertificateUser(client(authority, { commonName: '' }))).toBeUndefined();
  });
});

describe('findSubjectProblem', () => {
  const rows: readonly { uids: readonly string[]; problem: string | undefined }[] = [
    { uids: [], problem: undefined },
    { uids: ['7'], problem: undefined },
    { uids: ['7', '8'], problem: 'it has more than one uid' },
    { uids: [''], problem: 'its uid is empty' },
  ];
  for (const { uids, problem } of rows) {
    test(`of uids ${JSON.stringify(uids)}`, () => {
      expect(findSubjectProblem(client(authority, { uids }))).toBe(problem);
    });
  }
});
