import * as z from 'zod';
import type { CertificatePool } from './client-certificate.ts';
import type { User } from './user.ts';

/** Proxies that may speak for users, and how they do it. */
export interface FrontProxies {
  readonly authorities: CertificatePool;
  /** Common names; empty: any certificate of the authorities. */
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

/** Header names in lower case, every value separate. Node's `headersDistinct` is of this shape. */
export type Headers = Readonly<Partial<Record<string, readonly string[]>>>;

/** The user whom a trusted proxy names; undefined when it names none. */
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

/** Keys travel percent-encoded, because header names allow few characters; a proxy that does not encode is heard too. */
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

/** What the API server publishes for servers beside it, in configmap kube-system/extension-apiserver-authentication. */
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
