import { ConfigMaps, objectKey } from '../api/index.ts';
import { readCertificates } from '../certificates/index.ts';
import { isNotFound } from '../client/index.ts';
import type { Client } from '../client/index.ts';
import type { Logger } from '../log/index.ts';
import type { Trust } from './authentication.ts';
import type { CertificatePool } from './client-certificate.ts';
import { ServingError } from './options.ts';
import type { AuthenticationOptions } from './options.ts';
import { publishedAuthentication } from './request-header.ts';
import type { PublishedAuthentication } from './request-header.ts';
import { messageOf, readFlagFile } from './serving-certificates.ts';

/** The source of the CAs for clients. */
export interface TrustSource {
  /** Whether the handshake requests a client certificate. */
  readonly wantsCertificates: boolean;
  /** Reads the files again, and joins them with the last CAs from the cluster. */
  readFiles(): Promise<Trust>;
  /** Reads the CAs from the cluster again, unless the flags set all of them. */
  lookUp(signal: AbortSignal): Promise<void>;
}

const publishedKey = objectKey('kube-system', 'extension-apiserver-authentication');
const clientCaFlag = '--client-ca-file';
const proxyCaFlag = '--requestheader-client-ca-file';

export function createTrustSource(options: AuthenticationOptions, logger: Logger): TrustSource {
  const { client, clientCaFile, requestHeader } = options;
  const canLookUp = client !== undefined && !options.skipLookup;
  const needsLookUp = clientCaFile === '' || requestHeader.clientCaFile === '';
  let published: PublishedAuthentication | undefined;
  if (needsLookUp && client === undefined && !options.skipLookup) {
    logger.warn({}, 'no client for authentication: the CAs of clients are not read from the cluster');
  }

  return {
    wantsCertificates: clientCaFile !== '' || requestHeader.clientCaFile !== '' || canLookUp,
    async readFiles() {
      return {
        users: clientCaFile === '' ? poolOf(published?.['client-ca-file']) : await readPool(clientCaFlag, clientCaFile),
        proxies: await selectProxies(options, published),
      };
    },
    async lookUp(signal) {
      if (!canLookUp || !needsLookUp) return;
      published = await readPublished(client, signal);
    },
  };
}

/** Fails if the CAs in the cluster cannot be read, unless the flags tolerate that. */
export async function lookUpAtStart(
  source: TrustSource,
  { options, logger }: { readonly options: AuthenticationOptions; readonly logger: Logger },
  signal: AbortSignal,
): Promise<void> {
  try {
    await source.lookUp(signal);
  } catch (error) {
    if (signal.aborted) throw error;
    // Without the CAs of front proxies, an aggregated API server is of no use. Without those of users, tokens still work.
    const isFatal = options.requestHeader.clientCaFile === '' && !options.tolerateLookupFailure;
    if (isFatal) {
      const problem = `cannot read the CAs of clients from the cluster: ${messageOf(error)}`;
      throw new ServingError('--authentication-kubeconfig', problem, { cause: error });
    }
    logger.warn({ err: error }, 'cannot read the CAs of clients from the cluster: continuing without');
  }
}

async function selectProxies(
  { requestHeader }: AuthenticationOptions,
  published: PublishedAuthentication | undefined,
): Promise<Trust['proxies']> {
  if (requestHeader.clientCaFile !== '') {
    return { ...requestHeader, authorities: await readPool(proxyCaFlag, requestHeader.clientCaFile) };
  }
  const authorities = poolOf(published?.['requestheader-client-ca-file']);
  if (published === undefined || authorities === undefined) return undefined;
  return {
    authorities,
    allowedNames: published['requestheader-allowed-names'],
    usernameHeaders: published['requestheader-username-headers'],
    uidHeaders: published['requestheader-uid-headers'],
    groupHeaders: published['requestheader-group-headers'],
    extraHeaderPrefixes: published['requestheader-extra-headers-prefix'],
  };
}

async function readPool(flag: string, file: string): Promise<CertificatePool> {
  const pem = await readFlagFile(flag, file);
  try {
    return readCertificates(pem);
  } catch (error) {
    throw new ServingError(flag, `cannot use ${file}: it ${messageOf(error)}`, { cause: error });
  }
}

function poolOf(pem: string | undefined): CertificatePool | undefined {
  return pem === undefined || pem === '' ? undefined : readCertificates(pem);
}

/** Undefined if the ConfigMap does not exist: some clusters have no front proxy. */
async function readPublished(
  client: Pick<Client, 'get'>,
  signal: AbortSignal,
): Promise<PublishedAuthentication | undefined> {
  try {
    const { data } = await client.get(ConfigMaps, publishedKey, signal);
    return publishedAuthentication.parse(data ?? {});
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
