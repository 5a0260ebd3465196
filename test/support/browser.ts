import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { type Browser, chromium } from 'playwright-core';

const cache = join(import.meta.dirname, '../../.cache');
const packageFolder = join(fileURLToPath(import.meta.resolve('@sparticuz/chromium')), '../..');

export interface TestBrowser extends AsyncDisposable {
  readonly browser: Browser;
}

/**
 * Starts the Chromium that is inside of an npm package, with the libraries and the font of that package: nothing has to
 * be installed on the machine. It makes no requests of its own.
 */
export async function startBrowser(): Promise<TestBrowser> {
  const folder = await unpackChromium();
  const browser = await chromium.launch({
    executablePath: join(folder, 'chromium'),
    args: [
      '--no-sandbox', // tests may run as root, for whom Chromium has no sandbox
      '--no-zygote',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-domain-reliability',
      '--no-pings',
      '--font-render-hinting=none', // letters look the same on each machine
      '--disable-gpu',
    ],
    env: {
      LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
      HOME: folder, // no settings of the user
      PATH: process.env['PATH'] ?? '',
    },
  });
  return { browser, [Symbol.asyncDispose]: () => browser.close() };
}

/** Returns the folder with Chromium and its libraries. The first call takes a few seconds; later ones reuse the folder. */
async function unpackChromium(): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string };
  const folder = join(cache, `chromium-${version}`);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const unfinished = mkdtempSync(join(cache, 'chromium-unfinished-'));
  try {
    await inflateInto(unfinished);
    writeFileSync(join(unfinished, 'fonts.conf'), fontConfiguration(folder));
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(folder)) throw error; // otherwise another process was faster
  }
  return folder;
}

/** In a process of its own: the package unpacks into the folder for temporary files, which is set for whole processes. */
async function inflateInto(folder: string): Promise<void> {
  const script = `import { inflate } from '@sparticuz/chromium';
    const names = ['chromium', 'fonts.tar', 'al2023.tar', 'swiftshader.tar'];
    await Promise.all(names.map((name) => inflate(${JSON.stringify(packageFolder)} + '/bin/' + name + '.br')));`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: import.meta.dirname, // where the name of the package is resolved
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error('Chromium cannot be unpacked: see above');
}

/** Only the font of the package, so that pictures look the same on each machine. */
function fontConfiguration(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(folder, 'fonts')}</dir>
  <cachedir>${join(folder, 'fonts-cache')}</cachedir>
</fontconfig>
`;
}
