import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

import * as z from 'zod';

/**
 * A flag that names a file; empty for none. `parse` refuses contents of no use by throwing: that stops the start, long
 * before the file is needed. What is used is read when the controller is made, by `readFileOption`.
 */
export function fileOption(parse: (content: string) => unknown): z.ZodDefault<z.ZodString> {
  const file = z.string().superRefine((path, context) => {
    try {
      readFileOption(path, parse);
    } catch (error) {
      context.addIssue(`${path}: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
  return file.default('');
}

/** What the file holds; undefined if there is none. */
export function readFileOption<T>(path: string, parse: (content: string) => T): T | undefined {
  return path === '' ? undefined : parse(readFileSync(path, 'utf8'));
}

/** Gives the text back as it is if it holds at least one certificate and none that cannot be read. */
export function parseCertificates(pem: string): string {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error('contains no certificate');
  for (const block of blocks) {
    try {
      void new X509Certificate(block).fingerprint256;
    } catch (error) {
      throw new Error('contains a certificate that cannot be read', { cause: error });
    }
  }
  return pem;
}
