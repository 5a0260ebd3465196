import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { parseCommandLine } from '../cmd/kube-controller-manager/command.ts';
import { exitCodes, StartupError } from '../cmd/kube-controller-manager/exit-codes.ts';
import { collectFlags, processFlags } from '../cmd/kube-controller-manager/flags/index.ts';
import { resolveOptions } from '../cmd/kube-controller-manager/options.ts';
import { controllers } from '../controllers/registry.ts';
import { podSettingNames } from '../pkg/hollow/index.ts';
import { usageSettings } from '../pkg/sandbox/index.ts';
import { apiReference } from '../scripts/api-reference.ts';

const root = join(import.meta.dirname, '..');

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The text from `start` to `end`. Fails if the document has no such place. */
function part(document: string, start: string, end: string): string {
  const from = document.indexOf(start);
  const to = document.indexOf(end, from + start.length);
  if (from < 0 || to < 0) throw new Error(`no text from "${start}" to "${end}"`);
  return document.slice(from + start.length, to);
}

/** Everything between backquotes. */
function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, content = '']) => content);
}

const readme = read('README.md');
const processDocument = read('docs/process.md');
const allFlags = collectFlags(controllers);

describe('the README', () => {
  test('lists the controllers', () => {
    const listed = quoted(part(readme, '| Controllers of ', '\n\n'));
    expect(listed.sort()).toEqual(controllers.map(({ name }) => name).sort());
  });

  test("names each flag of kubeadm's command line, and only controllers that are built", () => {
    const table = part(readme, '| Flags of kubeadm ', '\n\n');
    const named = quoted(table);
    const used = [...read('deploy/static-pod.yaml').matchAll(/^ +- --([\w-]+)=/gm)].map(([, name]) => `--${name}`);
    expect(named.filter((name) => name.startsWith('--')).toSorted()).toEqual(used.toSorted());
    const built = new Set(controllers.map(({ name }) => name));
    expect(named.filter((name) => name.endsWith('-controller') && !built.has(name))).toEqual([]);
  });

  test('lists the settings of pods on simulated nodes', () => {
    const listed = part(readme, '| Annotation ', '\n\n').matchAll(/^\| `([\w/-]+)`/gm);
    expect([...listed].map(([, name]) => name)).toEqual(Object.values({ ...podSettingNames, ...usageSettings }));
  });

  test('lists the flags that the Go binary does not have', () => {
    const items = part(readme, 'Flags that the Go binary does not have:\n', '\n### ').matchAll(/^- `--([\w-]+)/gm);
    const own = [...allFlags].filter(([, flag]) => flag.own === true).map(([name]) => name);
    expect([...items].map(([, name]) => name)).toEqual(own);
  });
});

describe('docs/process.md', () => {
  test('lists every exit code', () => {
    const rows = [...part(processDocument, '| Exit code', '\n\n').matchAll(/^\| (\d+) /gm)];
    expect(rows.map(([, code]) => Number(code))).toEqual(Object.values(exitCodes));
  });

  test('lists the flags of the process that have no effect', () => {
    const listed = quoted(part(processDocument, '**Without effect**', '\n- **'));
    const without = Object.entries(processFlags).filter(
      ([, flag]) => 'noEffect' in flag && flag.noEffect !== undefined,
    );
    expect(listed.sort()).toEqual(without.map(([name]) => `--${name}`).sort());
  });

  test('lists flags that are refused', () => {
    const refused = quoted(part(processDocument, '**Refused**', '\n- **')).filter((text) => text.startsWith('--'));
    expect(refused.length).toBeGreaterThan(0);
    for (const argument of refused) {
      const line = parseCommandLine([argument], controllers);
      expect(line.kind).toBe('run');
      expect(() => line.kind === 'run' && resolveOptions(line.given, controllers), argument).toThrow(StartupError);
    }
  });
});

test('the README and docs/process.md name no flag of the manager that does not exist', () => {
  const mentioned = [
    ...quoted(part(readme, '\n## Flags\n', '\n## Metrics')),
    ...quoted(part(processDocument, '\n## Flags\n', '\n## Looking inside')),
  ].flatMap((text) => [...text.matchAll(/(?:^|\s)--([a-z][\w-]*)/g)].map(([, name = '']) => name));
  const placeholders = ['flag', 'help'];
  expect(mentioned.filter((name) => !allFlags.has(name) && !placeholders.includes(name))).toEqual([]);
});

describe('every document', () => {
  const documents = ['README.md', 'CONTRIBUTING.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)]
    .filter((path) => path.endsWith('.md'))
    .map((path) => ({ path, text: read(path) }));
  const { scripts, exports: exported, name: packageName } = JSON.parse(read('package.json')) as PackageJson;

  test('names files that exist', () => {
    const sourceFile =
      /\b(?:cmd|pkg|controllers|informers|workqueue|test|deploy|scripts|docs)\/[\w./-]+\.(?:ts|mjs|yaml|md|svg)\b/g;
    const missing = documents.flatMap(({ path, text }) =>
      [...text.matchAll(sourceFile)]
        .map(([file]) => file)
        .filter((file) => !existsSync(join(root, file)))
        .map((file) => `${path}: ${file}`),
    );
    expect(missing).toEqual([]);
  });

  test('names npm commands that exist', () => {
    const known = new Set([...Object.keys(scripts), 'install', 'ci']);
    const missing = documents.flatMap(({ path, text }) =>
      [...text.matchAll(/\bnpm (?:run )?(start|test|[a-z]+:[a-z:]+|build|bench|lint|format|typecheck|image)\b/g)]
        .map(([, script = '']) => script)
        .filter((script) => !known.has(script))
        .map((script) => `${path}: npm run ${script}`),
    );
    expect(missing).toEqual([]);
  });

  test('imports only what the package exports', async () => {
    const samples = documents.flatMap(({ text }) =>
      [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code),
    );
    const imports = samples.flatMap((code) => [...code.matchAll(/import \{([^}]*)\} from '([^']+)';/g)]);
    expect(imports.length).toBeGreaterThan(0);
    for (const [, names = '', specifier = ''] of imports) {
      if (specifier !== packageName && !specifier.startsWith(`${packageName}/`)) continue;
      const entry = exported[`.${specifier.slice(packageName.length)}`];
      expect(entry, specifier).toBeDefined();
      const source = (entry?.default ?? '').replace('./dist/lib/', '').replace(/\.js$/, '.ts');
      const module = (await import(join(root, source))) as object;
      const values = names
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '' && !name.startsWith('type '));
      for (const value of values) expect(Object.keys(module), `${value} of ${specifier}`).toContain(value);
    }
  });
});

interface PackageJson {
  readonly name: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, { readonly default: string }>>;
}

test('the API reference for operators is what the types say: npm run docs', () => {
  // The formatter breaks lines and adds commas.
  const words = (text: string): string => text.replaceAll(/[\s,|]/g, '');
  expect(words(read('docs/operators-api.md'))).toBe(words(apiReference()));
});

test('the API reference for operators has the type of each constant', () => {
  const constants = read('docs/operators-api.md').match(/^const .*$/gm) ?? [];
  expect(constants.length).toBeGreaterThan(0);
  expect(constants.filter((line) => !/^const \w+: .+;$/.test(line))).toEqual([]);
});

test('the code in the guide to operators is that of the sample controller', () => {
  const guide = read('docs/operators.md');
  const folder = 'examples/sample-controller';
  const files = readdirSync(join(root, folder)).filter((name) => name.endsWith('.ts'));
  const shown = [...guide.matchAll(/^`([\w.]+\.ts)`:\n\n```ts\n([^]*?)```$/gm)];
  expect(new Set(shown.map(([, name]) => name))).toEqual(new Set(files));
  for (const [, name = '', code] of shown) {
    const source = read(join(folder, name));
    const asUser = source.replace(/'..\/..\/(index|testing).ts'/g, (_, entry) =>
      entry === 'index' ? "'kube-controller-manager'" : "'kube-controller-manager/testing'",
    );
    expect(code).toBe(asUser);
  }
});
