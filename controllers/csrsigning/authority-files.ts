import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

import {
  readAuthorityCertificate,
  readAuthorityKey,
  type SigningAuthority,
} from '../../pkg/certificaterequests/index.ts';
import { PrivateKeyError } from '../../pkg/certificates/index.ts';
import type { Logger } from '../../pkg/log/index.ts';

export interface AuthorityFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** The authority in two files. */
export interface AuthoritySource {
  /**
   * Reads the files again: they are small, and requests are rare. While the files cannot be used, such as between the
   * writes of the two, it returns the last usable authority.
   */
  current(): Promise<SigningAuthority>;
}

interface Content {
  readonly certificate: string;
  readonly key: string;
}

/** Throws if the files cannot be used. */
export function openAuthority({ certFile, keyFile }: AuthorityFiles, logger: Logger): AuthoritySource {
  let content: Content = { certificate: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  let authority = parseAuthority(content);
  return {
    async current() {
      try {
        const [certificate, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
        if (certificate !== content.certificate || key !== content.key) {
          authority = parseAuthority({ certificate, key });
          content = { certificate, key };
          logger.info({ certFile, keyFile }, 'the certificate authority has changed');
        }
      } catch (error) {
        logger.warn(
          { certFile, keyFile, err: error },
          'cannot use the changed certificate authority; keeping the last one',
        );
      }
      return authority;
    },
  };
}

function parseAuthority(content: Content): SigningAuthority {
  const certificate = readAuthorityCertificate(content.certificate);
  const privateKey = readAuthorityKey(content.key);
  if (!certificate.checkPrivateKey(privateKey)) throw new PrivateKeyError('is not the key of the certificate');
  return { certificate, privateKey };
}
