// Brings node_modules in line with package-lock.json, so that `npm start` and `npm test` work right after a clone.
// It runs before anything is installed, on whatever Node the machine has: plain JavaScript, no packages.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const reason = findReasonToInstall();
if (reason !== undefined) await install(reason);

/** @returns {string | undefined} undefined when everything is there already */
function findReasonToInstall() {
  // npm writes this file last, so it marks a complete installation.
  const installedPath = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(installedPath)) return 'no packages are installed yet';
  const wanted = readPackages(join(root, 'package-lock.json'));
  const installed = readPackages(installedPath);
  const differs = Object.keys({ ...wanted, ...installed }).some((path) => {
    const left = wanted[path];
    const right = installed[path];
    // Optional packages are those for one platform: the lock may list others than this one has, and miss this one's.
    if (left === undefined) return right.optional !== true;
    if (right === undefined) return path !== '' && left.optional !== true; // the empty path is the project itself
    return left.version !== right.version || left.integrity !== right.integrity;
  });
  if (differs) return 'the installed packages are not those of package-lock.json';
  const runtime = spawnSync(join(root, 'node_modules/.bin/node'), ['--version']);
  return runtime.status === 0 ? undefined : 'the pinned Node is missing or does not run here';
}

/** @param {string} path */
function readPackages(path) {
  return JSON.parse(readFileSync(path, 'utf8')).packages;
}

/** @param {string} why */
async function install(why) {
  const startedAt = Date.now();
  const seconds = () => Math.round((Date.now() - startedAt) / 1000);
  console.log(`[setup] ${why}: installing those of package-lock.json (about a minute on a fresh machine)`);
  // `npm ci` refuses a lock that lacks the binaries of any platform, and a mirror need not carry those of all. This
  // installs the same locked versions, checks the same hashes, and leaves the lock as it is. Warnings are left out: they
  // would be about the machine's own Node, on which nothing but this script runs.
  const args = ['install', '--no-save', '--loglevel=error'];
  const npm = process.env['npm_execpath'];
  const [program, first] = npm === undefined ? ['npm', []] : [process.execPath, [npm]];
  const child = spawn(program, [...first, ...args], { cwd: root, stdio: 'inherit' });
  const timer = setInterval(() => console.log(`[setup] still installing (${seconds()} s)`), 5000);
  const [status] = await once(child, 'close').finally(() => clearInterval(timer));
  if (status !== 0) {
    console.error('[setup] npm install failed: see above');
    process.exit(1);
  }
  console.log(`[setup] packages installed (${seconds()} s)`);
}
