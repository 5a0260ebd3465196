import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findLongMainFiles, findViolations, findWritesOutsideApply, readImports } from './architecture.ts';

const root = join(import.meta.dirname, '..');

async function readSources(): Promise<Map<string, string>> {
  const sources = new Map<string, string>();
  for await (const path of glob('{cmd,pkg,controllers,informers,workqueue,test,scripts}/**/*.ts', { cwd: root })) {
    sources.set(path, readFileSync(join(root, path), 'utf8'));
  }
  expect(sources.size).toBeGreaterThan(50);
  return sources;
}

test('every import of the project points the right way', async () => {
  expect(findViolations(await readSources())).toEqual([]);
});

test('controllers write in apply*.ts alone', async () => {
  expect(findWritesOutsideApply(await readSources())).toEqual([]);
});

test("a controller's main file is informers, handlers and reconcile, in at most 100 lines", async () => {
  expect(findLongMainFiles(await readSources())).toEqual([]);
});

describe('findLongMainFiles', () => {
  const index = "import { createJobController } from './job.ts';\nimport { rule } from './rule.ts';\n";
  const judge = (lines: number, file = 'job.ts'): string[] =>
    findLongMainFiles(
      new Map([
        ['controllers/job/index.ts', index],
        [`controllers/job/${file}`, 'x;\n'.repeat(lines)],
      ]),
    );
  test('finds a main file of 101 lines', () =>
    expect(judge(101)).toEqual(['controllers/job/job.ts: 101 lines, more than 100']));
  test('allows a main file of 100 lines', () => expect(judge(100)).toEqual([]));
  test('allows a longer file that creates no controller', () => expect(judge(101, 'rule.ts')).toEqual([]));
});

describe('findWritesOutsideApply', () => {
  const write = 'await client.patch(Pods, key, patch, signal);';
  const rows = [
    { path: 'controllers/job/job.ts', text: write, found: 1 },
    { path: 'controllers/job/sync.ts', text: 'deps.client.delete(Jobs, key, {}, signal)', found: 1 },
    { path: 'controllers/job/job.ts', text: 'await client.get(Pods, key, signal);', found: 0 },
    { path: 'controllers/job/apply.ts', text: write, found: 0 },
    { path: 'controllers/job/apply-status.ts', text: write, found: 0 },
    { path: 'controllers/job/job.test.ts', text: write, found: 0 },
    { path: 'pkg/events/sender.ts', text: write, found: 0 },
  ];
  for (const { path, text, found } of rows) {
    test(`${found === 0 ? 'allows' : 'finds'} ${text} in ${path}`, () => {
      expect(findWritesOutsideApply(new Map([[path, text]]))).toHaveLength(found);
    });
  }
});

/** Two modules, the first importing the second; every folder has its index. */
function judge(path: string, statement: string): string[] {
  const folders = ['pkg/api', 'pkg/client', 'pkg/controller', 'pkg/server', 'pkg/time', 'informers', 'workqueue'];
  const indexes = [...folders, 'controllers/job', 'test/cluster'].map((folder) => `${folder}/index.ts`);
  return findViolations(new Map([...indexes.map((index) => [index, ''] as const), [path, statement]]));
}

const allowed = [
  { path: 'cmd/x/run.ts', statement: "import { registry } from '../../controllers/registry.ts';" },
  { path: 'cmd/x/run.ts', statement: "import { serve } from '../../pkg/server/index.ts';" },
  { path: 'cmd/x/command.ts', statement: "import { Command } from 'commander';" },
  { path: 'controllers/registry.ts', statement: "import { job } from './job/index.ts';" },
  { path: 'controllers/job/sync.ts', statement: "import { a,\n  b } from '../../pkg/controller/index.ts';" },
  { path: 'controllers/job/sync.ts', statement: "import { rule } from './rule.ts';" },
  { path: 'controllers/job/index.ts', statement: "import { z } from 'zod';" },
  { path: 'pkg/api/objects.ts', statement: "import type { V1Pod } from '@kubernetes/client-node';" },
  { path: 'pkg/api/objects.test.ts', statement: "import { FakeClock } from '../../test/support/fake-clock.ts';" },
  { path: 'pkg/time/clock.ts', statement: "import { setTimeout } from 'node:timers/promises';" },
  { path: 'test/suites/a.test.ts', statement: "import { exitCodes } from '../../cmd/x/exit-codes.ts';" },
  { path: 'test/suites/a.test.ts', statement: "import { startCluster } from '../cluster/index.ts';" },
  { path: 'test/support/client-api.ts', statement: "import { b } from '../../pkg/client/b.ts';" },
];

const forbidden = [
  { path: 'pkg/api/a.ts', statement: "import { b } from '../client/index.ts';", complaint: 'may not use pkg/client' },
  { path: 'pkg/api/a.ts', statement: "export * from '../client/index.ts';", complaint: 'may not use pkg/client' },
  { path: 'pkg/api/a.ts', statement: "import type { B } from '../client/index.ts';", complaint: 'may not use' },
  { path: 'pkg/api/a.ts', statement: "const b = await import('../client/index.ts');", complaint: 'may not use' },
  { path: 'pkg/api/a.test.ts', statement: "import { b } from '../client/index.ts';", complaint: 'may not use' },
  { path: 'workqueue/a.ts', statement: "import { b } from '../pkg/api/index.ts';", complaint: 'may not use pkg/api' },
  {
    path: 'informers/a.ts',
    statement: "import { b } from '../workqueue/index.ts';",
    complaint: 'may not use workqueue',
  },
  {
    path: 'controllers/a/a.ts',
    statement: "import { b } from '../job/index.ts';",
    complaint: 'may not use controllers/job',
  },
  { path: 'controllers/a/a.ts', statement: "import { b } from '../../pkg/server/index.ts';", complaint: 'pkg/server' },
  { path: 'pkg/time/a.ts', statement: "import { b } from '../../test/support/b.ts';", complaint: 'may not use test' },
  { path: 'pkg/api/a.ts', statement: "import { b } from '../../cmd/x/b.ts';", complaint: 'may not use cmd/x' },
  { path: 'pkg/new/a.ts', statement: "import { b } from '../time/index.ts';", complaint: 'has no place in the rules' },
  {
    path: 'informers/a.ts',
    statement: "import { b } from '../pkg/client/b.ts';",
    complaint: 'past pkg/client/index.ts',
  },
  { path: 'test/suites/a.test.ts', statement: "import { b } from '../cluster/b.ts';", complaint: 'past test/cluster' },
  { path: 'test/support/a.ts', statement: "import { b } from '../../pkg/client/b.ts';", complaint: 'past pkg/client' },
  {
    path: 'cmd/x/a.ts',
    statement: "import { b } from '../../pkg/client/deep/b.ts';",
    complaint: 'past pkg/client/index',
  },
  { path: 'informers/a.ts', statement: "import { b } from '../pkg/log/b.ts';", complaint: 'past pkg/log/index.ts' },
  { path: 'informers/a.ts', statement: "import pino from 'pino';", complaint: 'the package pino' },
  { path: 'informers/a.ts', statement: "import 'prom-client/lib/x.js';", complaint: 'the package prom-client' },
  { path: 'pkg/time/a.ts', statement: "import { b } from 'left-pad';", complaint: 'the package left-pad' },
  { path: 'pkg/api/a.ts', statement: "import { V1Pod } from '@kubernetes/client-node';", complaint: 'more than types' },
];

describe('findViolations', () => {
  for (const { path, statement } of allowed) {
    test(`allows ${path}: ${statement}`, () => expect(judge(path, statement)).toEqual([]));
  }
  for (const { path, statement, complaint } of forbidden) {
    test(`forbids ${path}: ${statement}`, () =>
      expect(judge(path, statement)).toEqual([expect.stringContaining(complaint)]));
  }
});

describe('readImports', () => {
  test('reads neither strings nor comments as imports', () => {
    const text =
      "const a = 'x';\n// import { b } from 'comment';\nexport const from = 'y';\nexport function f(): void {}\n";
    expect(readImports(text)).toEqual([]);
  });
});
