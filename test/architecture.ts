import { dirname, join } from 'node:path/posix';

/** Source text by path below the root of the project, such as `pkg/time/clock.ts`. */
export type Sources = ReadonlyMap<string, string>;

export interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
}

const leaves = ['pkg/fifo', 'pkg/sockets', 'pkg/time', 'pkg/log', 'pkg/metrics', 'pkg/certificates'];
/** Rules over objects, each in a folder named after its subject. */
const subjects = [
  'pkg/ip',
  'pkg/nodes',
  'pkg/pods',
  'pkg/quantities',
  'pkg/quota',
  'pkg/resourceclaims',
  'pkg/taints',
  'pkg/volumes',
];
const belowClient = ['pkg/api', 'pkg/protobuf', ...leaves];
const belowEngine = ['pkg/client', ...belowClient];
const belowController = ['pkg/flags', 'informers', 'workqueue', 'pkg/events', 'pkg/leaderelection', ...belowEngine];
const belowControllers = [
  'pkg/controller',
  'pkg/certificaterequests',
  'pkg/evictions',
  'pkg/cloud',
  'pkg/publishers',
  'pkg/revisions',
  'pkg/tokens',
  ...subjects,
  ...belowController,
];

/** For each folder, the folders it may import from. What is not listed is forbidden, in both places. */
const mayImport: ReadonlyMap<string, readonly string[]> = new Map([
  ['pkg/fifo', []],
  ['pkg/sockets', []],
  ['pkg/time', ['pkg/fifo']],
  ['pkg/certificates', []],
  ['pkg/flags', ['pkg/quantities', 'pkg/time']],
  ['pkg/log', ['pkg/time']],
  ['pkg/metrics', ['pkg/time']],
  ['pkg/api', leaves],
  ['pkg/protobuf', ['pkg/api']],
  ['pkg/client', belowClient],
  ['pkg/server', belowEngine],
  ['pkg/events', belowEngine],
  ['pkg/leaderelection', ['pkg/events', ...belowEngine]],
  ['informers', belowEngine],
  ['workqueue', leaves],
  ['pkg/certificaterequests', ['workqueue', 'pkg/api', 'pkg/certificates']],
  ['pkg/evictions', ['pkg/api', 'pkg/client', 'pkg/events', 'pkg/pods']],
  ['pkg/cloud', ['pkg/api']],
  ['pkg/ip', []],
  ['pkg/nodes', ['pkg/api']],
  ['pkg/pods', ['pkg/api']],
  ['pkg/quantities', []],
  ['pkg/quota', ['pkg/api', 'pkg/quantities', 'pkg/volumes']],
  ['pkg/resourceclaims', ['pkg/api']],
  ['pkg/taints', ['pkg/api']],
  ['pkg/volumes', ['pkg/api', 'pkg/pods', 'pkg/quantities']],
  ['pkg/publishers', ['pkg/client', 'pkg/metrics', 'pkg/time']],
  ['pkg/revisions', ['pkg/api', 'pkg/client']],
  ['pkg/tokens', ['informers', 'pkg/api']],
  ['pkg/controller', ['pkg/pods', ...belowController]],
  ['pkg/loop', ['pkg/controller', ...belowController]],
  ['pkg/manager', ['pkg/controller', 'pkg/loop', 'pkg/server', ...belowController]],
  // What the author of an operator writes with.
  ['pkg/operator', ['pkg/controller', ...belowController]],
  // For the tests of operators, and for ours. It starts whole clusters.
  [
    'pkg/testing',
    ['controllers', 'pkg/hollow', 'pkg/manager', 'pkg/operator', 'pkg/sandbox', 'pkg/servers', ...belowControllers],
  ],
  ['pkg/servers', ['pkg/certificates']],
  ['pkg/hollow', belowControllers],
  ['pkg/sandbox', [...subjects, ...belowClient]],
  ['pkg/endpoints', belowControllers],
  ['controllers/*', ['pkg/endpoints', ...belowControllers]],
  ['controllers', ['controllers/*', ...belowControllers]],
  ['cmd/*', ['controllers', 'pkg/hollow', 'pkg/loop', 'pkg/manager', 'pkg/server', ...belowControllers]],
  ['cmd/crd-types', ['pkg/operator']],
  // Runs the controller manager in its own process, through the same functions as the manager's main.
  [
    'cmd/sandbox',
    ['cmd/*', 'controllers', 'pkg/hollow', 'pkg/loop', 'pkg/manager', 'pkg/sandbox', ...belowControllers],
  ],
]);

/** The folders that may import an npm package; `type` where they may do so for its types alone. */
const packageHomes: ReadonlyMap<string, Readonly<Record<string, 'type' | 'value'>>> = new Map([
  ['@kubernetes/client-node', { 'pkg/api': 'type' }],
  ['prom-client', { 'pkg/metrics': 'value' }],
  ['pino', { 'pkg/log': 'value' }],
  ['@peculiar/x509', { 'pkg/certificaterequests': 'value' }],
  ['reflect-metadata', { 'pkg/certificaterequests': 'value' }],
  ['commander', { 'cmd/*': 'value', 'cmd/sandbox': 'value' }],
  ['@marcbachmann/cel-js', { 'controllers/*': 'value' }],
  ['undici', { 'pkg/client': 'value' }],
  ['preact', { 'pkg/loop': 'value' }],
  ['rfc6902', { 'pkg/sandbox': 'value' }],
  ['jose', { 'controllers/*': 'value', 'pkg/sandbox': 'value' }],
  [
    'js-yaml',
    {
      'controllers/*': 'value',
      'pkg/client': 'value',
      'pkg/sandbox': 'value',
      'pkg/server': 'value',
      'cmd/*': 'value',
      'cmd/crd-types': 'value',
    },
  ],
  ['lru-cache', { 'controllers/*': 'value', 'pkg/events': 'value', 'pkg/server': 'value' }],
]);
const everywhere = new Set(['zod']);
const grouped = new Set(['pkg', 'cmd', 'controllers']);

/** One line for each import that points the wrong way, goes past an index, or takes a package from outside its home. */
export function findViolations(sources: Sources): string[] {
  return [...sources].flatMap(([path, text]) =>
    readImports(text)
      .map((imported) => judge(path, imported, sources))
      .filter((complaint) => complaint !== undefined)
      .map((complaint) => `${path}: ${complaint}`),
  );
}

const writingCall =
  /\bclient\.(create|update|updateStatus|patch|delete|deleteCollection|updateScale|bindPod|evictPod|createToken|finalizeNamespace|updateApproval)\(/;

/**
 * One line for each write outside of the files that write. A controller decides in pure rules and writes in `apply*.ts`,
 * so that a reader finds every write of a controller in one place.
 */
export function findWritesOutsideApply(sources: Sources): string[] {
  return [...sources].flatMap(([path, text]) => {
    if (!path.startsWith('controllers/') || isUnitTest(path) || /\/apply[^/]*\.ts$/.test(path)) return [];
    const call = writingCall.exec(text);
    return call === null ? [] : [`${path}: calls client.${call[1]}, which only apply*.ts may`];
  });
}

/** The most lines of a controller's main file: informers, handlers and reconcile. */
const mainFileLines = 100;

/**
 * One line for each main file of a controller that is too long. The main file is the one that `index.ts` takes `create…`
 * from. Rules, handlers with conditions of their own and writes belong into files beside it.
 */
export function findLongMainFiles(sources: Sources): string[] {
  return [...sources].flatMap(([path, text]) => {
    if (!/^controllers\/[^/]+\/index\.ts$/.test(path)) return [];
    const imports = text.matchAll(/^import \{[^}]*\bcreate[A-Z]\w*[^}]*\} from '\.\/([^']+)';/gm);
    return [...imports].flatMap(([, file = '']) => {
      const main = join(dirname(path), file);
      const lines = (sources.get(main) ?? '').trimEnd().split('\n').length;
      return lines > mainFileLines ? [`${main}: ${lines} lines, more than ${mainFileLines}`] : [];
    });
  });
}

/** The imports and re-exports of a module. Formatted source has each of them at the start of a line. */
export function readImports(text: string): Import[] {
  const statements = text.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'"();=]*?\sfrom\s+)?['"]([^'"]+)['"]/gm);
  const calls = text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g);
  return [
    ...[...statements].map(([, type, specifier = '']) => ({ specifier, typeOnly: type !== undefined })),
    ...[...calls].map(([, specifier = '']) => ({ specifier, typeOnly: false })),
  ];
}

function judge(path: string, imported: Import, sources: Sources): string | undefined {
  const { specifier } = imported;
  if (specifier.startsWith('node:')) return undefined;
  if (!specifier.startsWith('.')) return judgePackage(path, imported);
  const target = join(dirname(path), specifier);
  if (target.endsWith('.json')) return undefined;
  return judgeDirection(path, target) ?? judgeEntrance(path, target, sources);
}

function judgePackage(path: string, { specifier, typeOnly }: Import): string | undefined {
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  if (isSupport(path) || isUnitTest(path) || everywhere.has(name)) return undefined;
  const use = packageHomes.get(name)?.[ruleOf(homeOf(path))];
  if (use === undefined) return `imports the package ${name}, which has its home elsewhere`;
  return use === 'type' && !typeOnly ? `imports more than types from the package ${name}` : undefined;
}

function judgeDirection(path: string, target: string): string | undefined {
  const from = homeOf(path);
  const to = homeOf(target);
  if (from === to || isSupport(path)) return undefined;
  // A unit test may use what its subject may use, and the test support.
  if (isUnitTest(path) && to === 'test') return undefined;
  const allowed = mayImport.get(ruleOf(from));
  if (allowed === undefined) return `${from} has no place in the rules of test/architecture.ts`;
  return allowed.includes(ruleOf(to)) ? undefined : `imports ${target}: ${from} may not use ${to}`;
}

/** From outside, a folder that has an index is entered through it, and every folder that the rules name must have one. */
function judgeEntrance(path: string, target: string, sources: Sources): string | undefined {
  const home = homeOf(target);
  // A test of the clock need not load the whole test kit.
  // Support that is named after a folder, such as test/support/sandbox-api.ts, is part of the tests of that folder.
  if (path.startsWith('test/support/') && home === 'pkg/testing') return undefined;
  if (home === `pkg/${/^test\/support\/([a-z]+)-/.exec(path)?.[1]}`) return undefined;
  // A program has an entrance of its own, `main.ts`, and the list of controllers is one file.
  const needsIndex = home !== homeOf(path) && !/^(controllers$|cmd\/)/.test(home) && mayImport.has(ruleOf(home));
  let entered = needsIndex ? home : undefined;
  for (let folder = dirname(target); folder !== '.' && !path.startsWith(`${folder}/`); folder = dirname(folder)) {
    if (sources.has(`${folder}/index.ts`)) entered = folder;
  }
  if (entered === undefined || target === `${entered}/index.ts`) return undefined;
  return `imports ${target} past ${entered}/index.ts`;
}

/** The folder that the rules speak about: `pkg/time`, `controllers/job`, `informers`; files in between have the parent. */
function homeOf(path: string): string {
  const [first = '', second = '', ...rest] = path.split('/');
  return grouped.has(first) && rest.length > 0 ? `${first}/${second}` : first;
}

function ruleOf(home: string): string {
  return mayImport.has(home) ? home : home.replace(/^(controllers|cmd)\/.+$/, '$1/*');
}

function isSupport(path: string): boolean {
  return path.startsWith('test/') || path.startsWith('scripts/') || !path.includes('/');
}

function isUnitTest(path: string): boolean {
  return path.endsWith('.test.ts');
}
