import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where scripts/build-page.ts writes to. In the executable, another module is in the place of this one: bundle-plugins.ts. */
const folder = join(import.meta.dirname, '../../dist/page');

/** The text of a file of the page, or undefined if the page is not built. */
export function readPageFile(name: string): string | undefined {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
