import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { getCiphers } from 'node:tls';
import type { SecureVersion } from 'node:tls';
import { ServingError } from './options.ts';

/** The TLS settings from flags, which do not change while the server runs. */
export interface TlsRules {
  readonly minVersion: SecureVersion;
  readonly ciphers?: string;
  readonly ecdhCurve?: string;
}

export function planTlsRules(flags: {
  readonly tlsMinVersion: string;
  readonly tlsCipherSuites: readonly string[];
  readonly tlsCurvePreferences: readonly number[];
}): TlsRules {
  return {
    minVersion: planMinVersion(flags.tlsMinVersion),
    ...(flags.tlsCipherSuites.length > 0 && { ciphers: planCiphers(flags.tlsCipherSuites) }),
    ...(flags.tlsCurvePreferences.length > 0 && { ecdhCurve: planCurves(flags.tlsCurvePreferences) }),
  };
}

const versions = new Map<string, SecureVersion>([
  ['', 'TLSv1.2'],
  ['VersionTLS10', 'TLSv1'],
  ['VersionTLS11', 'TLSv1.1'],
  ['VersionTLS12', 'TLSv1.2'],
  ['VersionTLS13', 'TLSv1.3'],
]);

function planMinVersion(name: string): SecureVersion {
  const version = versions.get(name);
  if (version === undefined) throw new ServingError('--tls-min-version', `unknown TLS version "${name}"`);
  return version;
}

// Like in Go, all suites of TLS 1.3 are always enabled.
const alwaysOn = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

const openSslNames = new Map<string, string>([
  ['TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA', 'ECDHE-ECDSA-AES128-SHA'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA', 'ECDHE-ECDSA-AES256-SHA'],
  ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA', 'ECDHE-RSA-AES128-SHA'],
  ['TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA', 'ECDHE-RSA-AES256-SHA'],
  ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256', 'ECDHE-ECDSA-AES128-SHA256'],
  ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256', 'ECDHE-RSA-AES128-SHA256'],
  ['TLS_ECDHE_ECDSA_WITH_RC4_128_SHA', 'ECDHE-ECDSA-RC4-SHA'],
  ['TLS_ECDHE_RSA_WITH_RC4_128_SHA', 'ECDHE-RSA-RC4-SHA'],
  ['TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA', 'ECDHE-RSA-DES-CBC3-SHA'],
  ['TLS_RSA_WITH_RC4_128_SHA', 'RC4-SHA'],
  ['TLS_RSA_WITH_3DES_EDE_CBC_SHA', 'DES-CBC3-SHA'],
  ['TLS_RSA_WITH_AES_128_CBC_SHA', 'AES128-SHA'],
  ['TLS_RSA_WITH_AES_256_CBC_SHA', 'AES256-SHA'],
  ['TLS_RSA_WITH_AES_128_CBC_SHA256', 'AES128-SHA256'],
  ['TLS_RSA_WITH_AES_128_GCM_SHA256', 'AES128-GCM-SHA256'],
  ['TLS_RSA_WITH_AES_256_GCM_SHA384', 'AES256-GCM-SHA384'],
]);

function planCiphers(names: readonly string[]): string {
  const available = new Set(getCiphers());
  const chosen = names.flatMap((name) => {
    if (alwaysOn.includes(name)) return [];
    const openSslName = openSslNames.get(name);
    if (openSslName === undefined || !available.has(openSslName.toLowerCase())) {
      throw new ServingError('--tls-cipher-suites', `cipher suite ${name} does not exist or is not available`);
    }
    return [openSslName];
  });
  return [...alwaysOn, ...chosen].join(':');
}

const curves = new Map<number, string>([
  [23, 'P-256'],
  [24, 'P-384'],
  [25, 'P-521'],
  [29, 'X25519'],
  [4587, 'SecP256r1MLKEM768'],
  [4588, 'X25519MLKEM768'],
  [4589, 'SecP384r1MLKEM1024'],
]);

function planCurves(numbers: readonly number[]): string {
  const names = numbers.map((number) => {
    const name = curves.get(number);
    if (name === undefined) throw new ServingError('--tls-curve-preferences', `unknown curve ${number}`);
    return name;
  });
  return names.join(':');
}

/** A certificate for some host names. */
export interface SniCertKey {
  readonly certFile: string;
  readonly keyFile: string;
  /** Patterns. Empty means the names in the certificate. */
  readonly names: readonly string[];
}

const sniFlag = '--tls-sni-cert-key';

export function parseSniCertKey(text: string): SniCertKey {
  const colon = text.indexOf(':');
  const files = (colon < 0 ? text : text.slice(0, colon)).split(',').map((file) => file.trim());
  const [certFile = '', keyFile = ''] = files;
  if (files.length !== 2 || certFile === '' || keyFile === '') {
    throw new ServingError(sniFlag, `"${text}" is not of the form certificate,key[:name,…]`);
  }
  const names =
    colon < 0
      ? []
      : text
          .slice(colon + 1)
          .split(',')
          .map((name) => name.trim());
  if (names.includes('')) throw new ServingError(sniFlag, `"${text}" has an empty name`);
  const address = names.find((name) => isIP(name) !== 0);
  // Clients that connect to an IP address send no name, and Node uses the main certificate for them.
  if (address !== undefined) throw new ServingError(sniFlag, `the address ${address} cannot select a certificate`);
  return { certFile, keyFile, names };
}

/** The host names of a certificate, used if the flag lists none. */
export function certificateNames(pem: string): readonly string[] {
  const certificate = new X509Certificate(pem);
  const commonNames = /^CN=(.+)$/m.exec(certificate.subject)?.slice(1) ?? [];
  const alternatives = [...(certificate.subjectAltName ?? '').matchAll(/DNS:([^,]+)/g)].map(([, name = '']) => name);
  return [...commonNames.filter((name) => isIP(name) === 0), ...alternatives];
}

/** Finds the entry of a host: first its exact name, then the wildcard for its first label. */
export function selectByHost<T>(host: string, byName: ReadonlyMap<string, T>): T | undefined {
  const name = host.toLowerCase().replace(/\.$/, '');
  return byName.get(name) ?? byName.get(name.replace(/^[^.]*/, '*'));
}
