import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const tool = (name: string): string => join(root, 'node_modules/.bin', name);

/** Somebody's operator: it knows the engine by the names in `exports` alone. */
const operator = `
import { ConfigMaps, keyOf, type ConfigMap, type ObjectKey } from 'kube-controller-manager/api';
import { ClientBuilder } from 'kube-controller-manager/client';
import { defineController, enqueueSelf, runWorkers } from 'kube-controller-manager/controller';
import { EventBroadcaster } from 'kube-controller-manager/events';
import { flag } from 'kube-controller-manager/flags';
import { createSharedInformerFactory, type Informer } from 'kube-controller-manager/informers';
import { runLeaderElection } from 'kube-controller-manager/leaderelection';
import { createLogger } from 'kube-controller-manager/log';
import { createMetricsRegistry } from 'kube-controller-manager/metrics';
import { systemClock } from 'kube-controller-manager/time';
import { createWorkQueue, type WorkQueue } from 'kube-controller-manager/workqueue';

const queue: WorkQueue<ObjectKey> = createWorkQueue({ name: 'mine', clock: systemClock, metrics: createMetricsRegistry() });
export function watch(informer: Informer<ConfigMap>): void {
  informer.addHandler(enqueueSelf(queue));
}
export const mine = defineController({
  name: 'my-controller',
  flags: { 'my-workers': flag('int32', { default: 5, help: 'Workers of my-controller' }) },
  create: (_, options) => ({ name: \`my-controller \${options['my-workers'].toFixed()}\`, run: async () => {} }),
});
queue.add(keyOf({ metadata: { namespace: 'default', name: 'mine' } }));
const engine = [ClientBuilder, runWorkers, EventBroadcaster, createSharedInformerFactory, runLeaderElection, createLogger];
console.log(await queue.take(AbortSignal.timeout(1000)), ConfigMaps.resource, engine.every((part) => typeof part === 'function'));
`;

describe('the engine as a package', () => {
  let directory = '';
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'library-'));
    const installed = join(directory, 'node_modules/kube-controller-manager');
    mkdirSync(installed, { recursive: true });
    copyFileSync(join(root, 'package.json'), join(installed, 'package.json'));
    symlinkSync(join(root, 'node_modules'), join(installed, 'node_modules'));
    execFileSync(tool('tsc'), ['-p', join(root, 'tsconfig.lib.json'), '--outDir', join(installed, 'dist/lib')]);
    writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(directory, 'operator.ts'), operator);
    const options = { module: 'nodenext', target: 'esnext', strict: true, noEmit: true, skipLibCheck: true };
    const typeRoots = [join(root, 'node_modules/@types')];
    const compilerOptions = { ...options, types: ['node'], typeRoots };
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['operator.ts'] }));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  test('gives its users types', () => {
    expect(() => execFileSync(tool('tsc'), ['-p', directory])).not.toThrow();
    const wrong = operator.replace('queue.add(keyOf(', 'queue.add(Number(');
    writeFileSync(join(directory, 'operator.ts'), wrong);
    expect(() => execFileSync(tool('tsc'), ['-p', directory])).toThrow();
    writeFileSync(join(directory, 'operator.ts'), operator);
  });

  test('runs from the names that it exports', () => {
    const printed = execFileSync(tool('node'), [join(directory, 'operator.ts')], { encoding: 'utf8' });
    expect(printed.trim()).toBe('default/mine configmaps true');
  });
});
