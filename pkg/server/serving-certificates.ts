import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSelfSigned } from '../certificates/index.ts';
import type { Clock } from '../time/index.ts';
import { ServingError } from './options.ts';
import type { ServingOptions } from './options.ts';
import { certificateNames, parseSniCertKey } from './tls.ts';

/** A certificate with its intermediates, and its key, both PEM. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

export interface ServingCertificates {
  readonly main: CertificatePair;
  readonly byName: ReadonlyMap<string, CertificatePair>;
}

/** Reads all certificates. Rejects with a ServingError if one cannot be read. */
export type CertificateSource = () => Promise<ServingCertificates>;

const certFlag = '--tls-cert-file';
const keyFlag = '--tls-private-key-file';
const sniFlag = '--tls-sni-cert-key';
const pairName = 'kube-controller-manager';
const yearMs = 365 * 24 * 3600 * 1000;
const hourMs = 3600 * 1000;

export async function createCertificateSource(serving: ServingOptions, clock: Clock): Promise<CertificateSource> {
  const sni = serving.tlsSniCertKeys.map(parseSniCertKey);
  const readMain = await createMainSource(serving, clock);
  return async () => {
    const main = await readMain();
    const extracted = new Map<string, CertificatePair>();
    const explicit = new Map<string, CertificatePair>();
    for (const { certFile, keyFile, names } of sni) {
      const pair = { cert: await readFlagFile(sniFlag, certFile), key: await readFlagFile(sniFlag, keyFile) };
      for (const name of names) explicit.set(name.toLowerCase(), pair);
      if (names.length > 0) continue;
      for (const name of namesOf(pair, certFile)) extracted.set(name.toLowerCase(), pair);
    }
    // A name in the flag precedes a name in a certificate.
    return { main, byName: new Map([...extracted, ...explicit]) };
  };
}

function namesOf({ cert }: CertificatePair, file: string): readonly string[] {
  try {
    return certificateNames(cert);
  } catch (error) {
    throw new ServingError(sniFlag, `${file} is not a certificate`, { cause: error });
  }
}

async function createMainSource(serving: ServingOptions, clock: Clock): Promise<() => Promise<CertificatePair>> {
  const { tlsCertFile, tlsPrivateKeyFile, certDir } = serving;
  if (tlsCertFile !== '' || tlsPrivateKeyFile !== '') {
    if (tlsPrivateKeyFile === '') throw new ServingError(certFlag, `requires ${keyFlag}`);
    if (tlsCertFile === '') throw new ServingError(keyFlag, `requires ${certFlag}`);
    return async () => ({
      cert: await readFlagFile(certFlag, tlsCertFile),
      key: await readFlagFile(keyFlag, tlsPrivateKeyFile),
    });
  }
  if (certDir === '') {
    const generated = generatePair(serving.bindAddress, clock.now());
    return () => Promise.resolve(generated);
  }
  const certFile = join(certDir, `${pairName}.crt`);
  const keyFile = join(certDir, `${pairName}.key`);
  await ensurePair({ certDir, certFile, keyFile }, () => generatePair(serving.bindAddress, clock.now()));
  return async () => ({
    cert: await readFlagFile('--cert-dir', certFile),
    key: await readFlagFile('--cert-dir', keyFile),
  });
}

/** Keeps the pair of an earlier start, so that clients that trust it need no change. */
async function ensurePair(
  { certDir, certFile, keyFile }: { readonly certDir: string; readonly certFile: string; readonly keyFile: string },
  generate: () => CertificatePair,
): Promise<void> {
  const [hasCert, hasKey] = [await exists(certFile), await exists(keyFile)];
  if (hasCert && hasKey) return;
  if (hasCert || hasKey) {
    const missing = hasCert ? keyFile : certFile;
    throw new ServingError('--cert-dir', `${missing} is missing, but the other half of the pair is there`);
  }
  const { cert, key } = generate();
  try {
    await mkdir(certDir, { recursive: true, mode: 0o755 });
    await writeFile(certFile, cert, { mode: 0o644 });
    await writeFile(keyFile, key, { mode: 0o600 });
  } catch (error) {
    throw new ServingError('--cert-dir', `cannot write the generated certificate: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** A self-signed certificate for the names of the host, for clients that do not verify or that trust it explicitly. */
function generatePair(bindAddress: string, nowMs: number): CertificatePair {
  const isUnspecified = ['', '0.0.0.0', '::'].includes(bindAddress);
  const { certificate, privateKey } = createSelfSigned({
    commonName: `localhost@${Math.floor(nowMs / 1000)}`,
    usages: ['server'],
    hosts: [...new Set(['localhost', '127.0.0.1', ...(isUnspecified ? [] : [bindAddress])])],
    validity: { fromMs: nowMs - hourMs, untilMs: nowMs + yearMs }, // clocks differ: valid an hour ago
  });
  return { cert: certificate, key: privateKey };
}

/** Reads the file of a flag. The error names the flag. */
export async function readFlagFile(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new ServingError(flag, `cannot read the file: ${messageOf(error)}`, { cause: error });
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await readFlagFile('--cert-dir', file);
    return true;
  } catch (error) {
    if (error instanceof ServingError && isMissing(error.cause)) return false;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
