/**
 * The bill of materials of the executable: a CycloneDX document, and the licence texts that must be distributed with
 * it.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';

const root = join(import.meta.dirname, '..');

export interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licence: string | undefined;
  readonly licenceText: string | undefined;
  /** Base64, as in the lock file. */
  readonly sha512: string | undefined;
}

interface PackageFile {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** The packages in the bundle, and Node, by name. */
export function collectComponents({ outputs }: Metafile): Component[] {
  const used = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  const directories = new Set(used.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []));
  const components = [...[...directories].map(readComponent), readNode()];
  return components.sort((a, b) => (a.purl < b.purl ? -1 : 1));
}

function readComponent(directory: string): Component {
  const path = join(root, directory);
  const { name, version, license } = readJson<PackageFile>(join(path, 'package.json'));
  const lock = readJson<{ packages: Record<string, { integrity?: string } | undefined> }>(
    join(root, 'package-lock.json'),
  );
  const licenceFile = readdirSync(path).find((file) => /^(licen[cs]e|copying)/i.test(file));
  return {
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    licence: license,
    licenceText: licenceFile === undefined ? undefined : readFileSync(join(path, licenceFile), 'utf8'),
    sha512: lock.packages[directory]?.integrity?.replace(/^sha512-/, ''),
  };
}

/** npm may remove the package that Node came in, and its licence: the text is kept here. */
function readNode(): Component {
  const version = process.version.slice(1);
  const licence = join(root, `deploy/licenses/node-${version}.txt`);
  if (!existsSync(licence)) throw new Error(`${licence} is missing: it is the file LICENSE of Node ${version}`);
  return {
    name: 'node',
    version,
    purl: `pkg:generic/node@${version}`,
    licence: 'MIT',
    licenceText: readFileSync(licence, 'utf8'),
    sha512: undefined,
  };
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T; // written by npm
}

/** CycloneDX 1.6. No time and no serial number: the same build gives the same document. */
export function formatBillOfMaterials(components: readonly Component[]): string {
  const own = readJson<PackageFile>(join(root, 'package.json'));
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        name: own.name,
        version: own.version,
        licenses: [{ license: { id: own.license } }],
      },
    },
    components: components.map(({ name, version, purl, licence, sha512 }) => ({
      type: 'library',
      'bom-ref': purl,
      name,
      version,
      purl,
      ...(licence !== undefined && { licenses: [{ license: { id: licence } }] }),
      ...(sha512 !== undefined && {
        hashes: [{ alg: 'SHA-512', content: Buffer.from(sha512, 'base64').toString('hex') }],
      }),
    })),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** One text: our own licence, then that of each component. */
export function formatLicences(components: readonly Component[]): string {
  const own = readFileSync(join(root, 'LICENSE'), 'utf8');
  const parts = components.map(({ name, version, licence, licenceText }) => {
    if (licenceText === undefined && licence === undefined) throw new Error(`${name} ${version} has no licence`);
    return `${name} ${version}\n\n${licenceText ?? `Licence: ${licence}`}`;
  });
  return [own, ...parts].join(`\n${'-'.repeat(80)}\n\n`);
}
