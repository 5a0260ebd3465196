// Brings node_modules in line with package-lock.json, so that `npm start` and `npm test` work right after a clone.
// It runs before anything is installed, on whatever Node the machine has: plain JavaScript, no packages.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const reason = findReasonToInstall();
if (reason !== undefined) install(reason);

/** @returns {string | undefined} undefined when everything is there already */
function findReasonToInstall() {
  // npm writes this file last, so that it stands for an installation that came to its end.
  const installedPath = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(installedPath)) return 'no packages are installed yet';
  const wanted = readPackages(join(root, 'package-lock.json'));
  const installed = readPackages(installedPath);
  const differs = Object.keys({ ...wanted, ...installed }).some((path) => {
    const left = wanted[path];
    const right = installed[path];
    // The lock also lists packages for other platforms, and the project itself under the empty path.
    if (right === undefined) return path !== '' && left?.optional !== true;
    return left?.version !== right.version || left?.integrity !== right.integrity;
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
function install(why) {
  const startedAt = Date.now();
  console.log(`[setup] ${why}: running npm ci (about a minute on a fresh machine)`);
  const npm = process.env['npm_execpath'];
  const [program, args] = npm === undefined ? ['npm', ['ci']] : [process.execPath, [npm, 'ci']];
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) {
    console.error(`[setup] npm ci failed${error === undefined ? '' : `: ${error.message}`}`);
    process.exit(1);
  }
  console.log(`[setup] packages installed in ${Math.round((Date.now() - startedAt) / 1000)} s`);
}
