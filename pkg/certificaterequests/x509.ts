import type * as X509Library from './x509-library.ts';

let library: Promise<typeof X509Library> | undefined;

/**
 * The library for X.509. It is loaded when the first certificate request arrives: that takes 120 ms of CPU time and 7 MB, which
 * most processes never need.
 */
export function loadX509(): Promise<typeof X509Library> {
  library ??= import('./x509-library.ts');
  return library;
}
