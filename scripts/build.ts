/**
 * Builds the program into `dist`, or the directory given by `--out`: one file, `kube-controller-manager`, for the
 * current platform, which needs neither Node nor this repository. Writes the bill of materials and the licences beside
 * it.
 */
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { collectComponents, formatBillOfMaterials, formatLicences } from './bill-of-materials.ts';
import { writeBundle } from './bundle.ts';
import { writeExecutable } from './executable.ts';

const { values } = parseArgs({ options: { out: { type: 'string', default: join(import.meta.dirname, '../dist') } } });
const out = resolve(values.out);
const executable = join(out, 'kube-controller-manager');
const work = mkdtempSync(join(tmpdir(), 'build-'));
try {
  const components = collectComponents(await writeBundle(join(work, 'program.cjs')));
  mkdirSync(out, { recursive: true });
  writeExecutable(work, executable);
  writeFileSync(join(out, 'sbom.cdx.json'), formatBillOfMaterials(components));
  writeFileSync(join(out, 'licenses.txt'), formatLicences(components));
} finally {
  rmSync(work, { recursive: true });
}
console.log(`${executable} (${(statSync(executable).size / 1e6).toFixed(1)} MB)`);
