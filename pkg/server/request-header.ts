import * as z from 'zod';
import type { CertificatePool } from './client-certificate.ts';
import type { User } from './user.ts';

/** The front proxies that may set the user, and the headers they use. */
export interface FrontProxies {
  readonly authorities: CertificatePool;
  /** Allowed common names. Empty means any certificate of the CAs. */
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

/** Lower-case header names with a list of values, like Node's `headersDistinct`. */
export type Headers = Readonly<Partial<Record<string, readonly string[]>>>;

/** The user in the headers of a trusted front proxy. Undefined if there is none. */
export function selectHeaderUser(headers: Headers, proxies: FrontProxies): User | undefined {
  const name = firstValue(headers, proxies.usernameHeaders);
  if (name === undefined) return undefined;
  const groups = proxies.groupHeaders.flatMap((header) => valuesOf(headers, header));
  const uid = firstValue(headers, proxies.uidHeaders);
  return { name, ...(uid !== undefined && { uid }), groups, extra: selectExtra(headers, proxies.extraHeaderPrefixes) };
}

function selectExtra(headers: Headers, prefixes: readonly string[]): Record<string, readonly string[]> {
  const extra = new Map<string, string[]>();
  for (const prefix of prefixes.map((prefix) => prefix.toLowerCase())) {
    for (const [header, values] of Object.entries(headers)) {
      if (!header.startsWith(prefix)) continue;
      const key = unescapeKey(header.slice(prefix.length));
      extra.set(key, [...(extra.get(key) ?? []), ...(values ?? [])]);
    }
  }
  return Object.fromEntries(extra);
}

/** Keys are percent-encoded, because header names allow few characters. Keys of proxies that do not encode are kept. */
function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch (error) {
    if (error instanceof URIError) return key;
    throw error;
  }
}

function firstValue(headers: Headers, names: readonly string[]): string | undefined {
  return names.map((name) => valuesOf(headers, name)[0]).find((value) => value !== undefined);
}

function valuesOf(headers: Headers, name: string): readonly string[] {
  return (headers[name.toLowerCase()] ?? []).filter((value) => value !== '');
}

const publishedList = z
  .string()
  .transform((text, context) => {
    try {
      return text === '' ? [] : JSON.parse(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: `not JSON: ${String(error)}` });
      return z.NEVER;
    }
  })
  .pipe(z.array(z.string()).nullable())
  .transform((list) => list ?? [])
  .default([]);

/** The ConfigMap kube-system/extension-apiserver-authentication, in which the API server publishes CAs for clients. */
export const publishedAuthentication = z.object({
  'client-ca-file': z.string().optional(),
  'requestheader-client-ca-file': z.string().optional(),
  'requestheader-allowed-names': publishedList,
  'requestheader-username-headers': publishedList,
  'requestheader-uid-headers': publishedList,
  'requestheader-group-headers': publishedList,
  'requestheader-extra-headers-prefix': publishedList,
});

export type PublishedAuthentication = z.output<typeof publishedAuthentication>;
