import { readAuthorityCertificate, readAuthorityKey } from '../../pkg/certificaterequests/index.ts';
import { FlagError, readFlagFile } from '../../pkg/flags/index.ts';
import type { SignerName } from './rules.ts';

type Files = Readonly<Record<string, string | number>>;

/** The flags that name the files of one authority. */
interface FlagPair {
  readonly certFlag: string;
  readonly keyFlag: string;
}

export interface Signer {
  readonly name: SignerName;
  readonly certFile: string;
  readonly keyFile: string;
}

const common: FlagPair = { certFlag: 'cluster-signing-cert-file', keyFlag: 'cluster-signing-key-file' };
const pairOf = (part: string): FlagPair => ({
  certFlag: `cluster-signing-${part}-cert-file`,
  keyFlag: `cluster-signing-${part}-key-file`,
});
const own: Readonly<Record<SignerName, FlagPair>> = {
  'kubernetes.io/kubelet-serving': pairOf('kubelet-serving'),
  'kubernetes.io/kube-apiserver-client-kubelet': pairOf('kubelet-client'),
  'kubernetes.io/kube-apiserver-client': pairOf('kube-apiserver-client'),
  'kubernetes.io/legacy-unknown': pairOf('legacy-unknown'),
};
const signerNames = Object.keys(own) as SignerName[]; // the keys of a record are its type's

const fileOf = (files: Files, name: string): string => String(files[name] ?? '');
const isSet = (files: Files, { certFlag, keyFlag }: FlagPair): boolean =>
  fileOf(files, certFlag) !== '' || fileOf(files, keyFlag) !== '';

/** The signers that have files: all with the common pair, or those with a pair of their own. */
export function selectSigners(files: Files): readonly Signer[] {
  return selectPairs(files).map(([name, { certFlag, keyFlag }]) => ({
    name,
    certFile: fileOf(files, certFlag),
    keyFile: fileOf(files, keyFlag),
  }));
}

function selectPairs(files: Files): readonly (readonly [SignerName, FlagPair])[] {
  const withOwn = signerNames.filter((name) => isSet(files, own[name]));
  if (withOwn.length > 0) return withOwn.map((name) => [name, own[name]]);
  // One file of the two is not enough. The Go binary does not complain about it either.
  if (fileOf(files, common.certFlag) === '' || fileOf(files, common.keyFlag) === '') return [];
  return signerNames.map((name) => [name, common]);
}

/** Throws a `FlagError` if the pairs contradict each other, are incomplete, or name files that cannot sign. */
export function checkSigningFiles(files: Files): void {
  for (const { certFlag, keyFlag } of Object.values(own)) {
    const [cert, key] = [fileOf(files, certFlag), fileOf(files, keyFlag)];
    if (cert === '' && key !== '') throw contradiction(keyFlag, `cannot be set without --${certFlag}`);
    if (cert !== '' && key === '') throw contradiction(certFlag, `cannot be set without --${keyFlag}`);
  }
  const withOwn = Object.values(own).find((pair) => isSet(files, pair));
  if (withOwn !== undefined && isSet(files, common)) {
    const flag = fileOf(files, common.certFlag) === '' ? common.keyFlag : common.certFlag;
    throw contradiction(flag, `cannot be set together with --${withOwn.certFlag}`);
  }
  for (const pair of new Set(selectPairs(files).map(([, each]) => each))) checkPair(files, pair);
}

function checkPair(files: Files, { certFlag, keyFlag }: FlagPair): void {
  const certificate = readFile(files, certFlag, readAuthorityCertificate);
  const key = readFile(files, keyFlag, readAuthorityKey);
  if (certificate.checkPrivateKey(key)) return;
  const problem = `is not the key of the certificate in --${certFlag}`;
  throw new FlagError('UnusableFile', keyFlag, `--${keyFlag}: ${fileOf(files, keyFlag)}: ${problem}`);
}

function readFile<T>(files: Files, flag: string, parse: (text: string) => T): T {
  const path = fileOf(files, flag);
  try {
    return readFlagFile(path, parse) as T; // the path is not empty
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new FlagError('UnusableFile', flag, `--${flag}: ${path}: ${why}`, { cause: error });
  }
}

function contradiction(flag: string, problem: string): FlagError {
  return new FlagError('InvalidValue', flag, `--${flag}: ${problem}`);
}
