import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { type SandboxCluster, startSandboxCluster } from '../../cmd/sandbox/cluster.ts';
import {
  DaemonSets,
  Deployments,
  type Deployment,
  isConditionTrue,
  Jobs,
  Namespaces,
  objectKey,
  Pods,
  ResourceQuotas,
  Services,
  StatefulSets,
  type Unsaved,
} from '../../pkg/api/index.ts';
import {
  countElements,
  type Counts,
  findViolations,
  focusedTag,
  focusedText,
  pageWidth,
  readCounts,
  recordPods,
  startCounting,
} from '../support/browser-scripts.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { watchUntil } from '../support/eventually.ts';
import { silentLogger } from '../support/loggers.ts';
import { ReverseProxy } from '../support/reverse-proxy.ts';

/** The page in a real browser, on a sandbox cluster: what people see and do there. */

const namespace = 'shop';
const axeFile = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));
const pictures = process.env['LOOP_PICTURES'] === '1' ? join(import.meta.dirname, '../../docs') : undefined;

let browser: TestBrowser;
let cluster: SandboxCluster;
const suite = new AsyncDisposableStack();
beforeAll(async () => {
  browser = suite.use(await startBrowser());
  cluster = suite.use(await startSandboxCluster({ logger: silentLogger, nodes: 4 }));
  await createShop();
});
afterAll(() => suite.disposeAsync());

/** What no test may cause: errors in the console, and requests to anywhere but the page's own origin. */
const complaints: string[] = [];
const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
  if (complaints.length > 0) throw new Error(complaints.splice(0).join('\n'));
});

async function openPage(hash: string, options: BrowserContextOptions & { base?: string } = {}): Promise<Page> {
  const { base = loopUrl(cluster), ...rest } = options;
  const context = await browser.browser.newContext({ viewport: { width: 1280, height: 860 }, ...rest });
  cleanUps.push(() => context.close());
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== 'data:' && origin !== new URL(base).origin) complaints.push(`request to ${request.url()}`);
  });
  await page.goto(`${base}${hash}`);
  return page;
}

function loopUrl({ loopUrl: url }: SandboxCluster): string {
  if (url === undefined) throw new Error('the sandbox serves no page');
  return url;
}

function deployment(name: string, replicas: number, annotations: Record<string, string> = {}): Unsaved<Deployment> {
  return { metadata: { namespace, name }, spec: { replicas, ...template(name, annotations) } };
}

function template(name: string, annotations: Record<string, string> = {}) {
  const labels = { app: name };
  const spec = { containers: [{ name: 'main', image: `example.com/${name}:1` }] };
  return { selector: { matchLabels: labels }, template: { metadata: { labels, annotations }, spec } };
}

/** One of each kind, and a Deployment that is stuck. */
async function createShop(): Promise<void> {
  const { client } = cluster;
  const signal = AbortSignal.timeout(300_000); // only to end a run that hangs
  await client.create(Namespaces, { metadata: { name: namespace } }, signal);
  await client.create(Deployments, deployment('web', 3), signal);
  const stuck = deployment('api', 2, { 'hollow-node/never-ready': 'true' });
  await client.create(Deployments, { ...stuck, spec: { ...stuck.spec, progressDeadlineSeconds: 1 } }, signal);
  const ports = [{ port: 80, targetPort: 8080 }];
  await client.create(
    Services,
    { metadata: { namespace, name: 'web' }, spec: { selector: { app: 'web' }, ports } },
    signal,
  );
  const sets = { replicas: 3, serviceName: 'db', ...template('db') };
  await client.create(StatefulSets, { metadata: { namespace, name: 'db' }, spec: sets }, signal);
  await client.create(DaemonSets, { metadata: { namespace, name: 'agent' }, spec: template('agent') }, signal);
  const { template: job } = template('migrate', { 'hollow-node/finish-after': '1s' });
  const run = { template: { ...job, spec: { ...job.spec, restartPolicy: 'Never' } } };
  await client.create(Jobs, { metadata: { namespace, name: 'migrate' }, spec: run }, signal);
  const isAvailable = ({ status }: Deployment): boolean => status?.availableReplicas === 3;
  await watchUntil(client, Deployments, { namespace, fieldSelector: 'metadata.name=web' }, isAvailable, signal);
  const hasFailed = ({ status }: Deployment): boolean =>
    status?.conditions?.some(({ type, status: value }) => type === 'Progressing' && value === 'False') === true;
  await watchUntil(client, Deployments, { namespace, fieldSelector: 'metadata.name=api' }, hasFailed, signal);
}

/** The card of an owner in the picture of the cluster. */
function card(page: Page, name: string): Locator {
  return page.locator('.tree').filter({ has: page.locator('.root .name', { hasText: new RegExp(`/${name}$`) }) });
}

async function isWithin(inner: Locator, outer: Locator): Promise<boolean> {
  const [small, large] = [await inner.boundingBox(), await outer.boundingBox()];
  return small !== null && large !== null && small.x + small.width <= large.x + large.width;
}

describe('the cluster', () => {
  test('owners are shown with what they own, and pods with their nodes', async () => {
    const page = await openPage('#/cluster?namespace=shop');
    await expect.poll(() => card(page, 'web').locator('.chip.good').count()).toBe(6); // of the Deployment and the Service
    await expect.poll(() => card(page, 'db').locator('.chip.good').allInnerTexts()).toHaveLength(3);
    await expect.poll(() => card(page, 'agent').locator('.chip').count()).toBe(4);
    await expect.poll(() => card(page, 'migrate').innerText()).toContain('complete');
    expect(await card(page, 'web').locator('.chip-node').first().innerText()).toMatch(/^node-\d$/);
    const dots = page.locator('.node .dot');
    await expect.poll(() => dots.count()).toBeGreaterThanOrEqual(3 + 2 + 3 + 4);
  });

  if (pictures !== undefined) {
    test('a picture is taken during a rollout', async ({ signal }) => {
      const body = { spec: { template: { metadata: { annotations: { 'hollow-node/ready-after': '10s' } } } } };
      await cluster.client.patch(Deployments, objectKey(namespace, 'web'), { type: 'merge', body }, signal);
      await takePicture('#/cluster?namespace=shop', 'loop-cluster.png', '.chip.busy .chip-node');
      expect(existsSync(join(pictures ?? '', 'loop-cluster.png'))).toBe(true);
    });
  }

  test('a rollout is seen pod by pod', async ({ signal }) => {
    await cluster.client.create(Deployments, deployment('roll', 3), signal);
    const page = await openPage('#/cluster?namespace=shop&name=roll');
    const pods = card(page, 'roll').locator('.chip');
    await expect.poll(() => card(page, 'roll').locator('.chip.good').count()).toBe(3);
    const before = await pods.evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    const steps = await followPods(page);
    const image = { spec: { template: { spec: { containers: [{ name: 'main', image: 'example.com/roll:2' }] } } } };
    await cluster.client.patch(Deployments, objectKey(namespace, 'roll'), { type: 'strategic', body: image }, signal);
    const isReplaced = async (): Promise<boolean> => {
      const now = await card(page, 'roll')
        .locator('.chip.good')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
      return now.length === 3 && (await pods.count()) === 3 && now.every((href) => !before.includes(href));
    };
    await expect.poll(isReplaced).toBe(true);
    const seen = await steps();
    // Old and new pods were there together, and never all new ones at once.
    const isOld = (href: string): boolean => before.includes(href);
    const mixed = seen.filter((step) => step.some(isOld) && !step.every(isOld));
    expect(mixed.length).toBeGreaterThanOrEqual(2);
  });

  test('filters show a part, and are part of the address', async () => {
    const page = await openPage('#/cluster');
    await page.getByLabel('Namespace').selectOption(namespace);
    await page.getByLabel('Kind').selectOption('StatefulSet');
    await expect.poll(() => page.locator('.tree').allInnerTexts()).toHaveLength(1);
    expect(page.url()).toContain('#/cluster?namespace=shop&kind=StatefulSet');
    await page.reload();
    await expect.poll(() => page.locator('.tree .root .name').allInnerTexts()).toEqual(['shop/db']);
    expect(await page.getByLabel('Kind').inputValue()).toBe('StatefulSet');
    await page.getByLabel('Name', { exact: true }).fill('nothing-like-this');
    await page.getByText('No object matches the filter.').waitFor();
  });
});

/** Records the pods in the picture after each drawing. The result returns what was recorded, without repetitions. */
async function followPods(page: Page): Promise<() => Promise<readonly string[][]>> {
  const steps: string[] = [];
  await page.exposeFunction('recordStep', (step: string) => {
    if (steps.at(-1) !== step) steps.push(step);
  });
  await page.evaluate(recordPods);
  return async () => steps.map((step) => step.split(' '));
}

async function takePicture(hash: string, file: string, waitsFor: string): Promise<void> {
  const page = await openPage(hash, {
    viewport: { width: 1200, height: 900 },
    deviceScaleFactor: 2,
    reducedMotion: 'reduce',
  });
  await page.locator(waitsFor).first().waitFor();
  await page.screenshot({ path: join(pictures ?? '', file) });
}

describe('an object', () => {
  test('the page of a stuck Deployment names the reason, and shows its reconciles', async () => {
    const page = await openPage('#/cluster?namespace=shop');
    await card(page, 'api').locator('.root .name').click();
    await page.locator('h1', { hasText: 'shop/api' }).waitFor();
    await expect.poll(() => page.locator('.why').innerText()).toContain('ProgressDeadlineExceeded');
    expect(await page.locator('.why').getAttribute('class')).toContain('bad');
    await expect.poll(() => page.locator('.panel[aria-label=Conditions]').innerText()).toContain('Progressing: False');
    await expect.poll(() => page.locator('.record').count()).toBeGreaterThan(0);
    await expect.poll(() => page.locator('.record').first().innerText()).toContain('deployment-controller');
    const text = await page.getByRole('link', { name: 'As text' }).getAttribute('href');
    const response = await fetch(new URL(text ?? '', loopUrl(cluster)));
    expect(await response.text()).toContain('ProgressDeadlineExceeded');
  });

  test('a quota that forbids pods is named, and what was sent and refused', async ({ signal }) => {
    const { client } = cluster;
    await client.create(Namespaces, { metadata: { name: 'full' } }, signal);
    const quota = { metadata: { namespace: 'full', name: 'none' }, spec: { hard: { pods: '0' } } };
    await client.create(ResourceQuotas, quota, signal);
    await watchUntil(client, ResourceQuotas, { namespace: 'full' }, ({ status }) => status?.hard !== undefined, signal);
    const refused = deployment('refused', 1);
    const page = await openPage('#/objects/deployments.apps/full/refused');
    await client.create(Deployments, { ...refused, metadata: { namespace: 'full', name: 'refused' } }, signal);
    await expect.poll(() => page.locator('.why').innerText()).toContain('exceeded quota');
    await page.locator('.panel[aria-label=Owns] a').first().click();
    await page.locator('h1', { hasText: 'ReplicaSet' }).waitFor();
    await expect.poll(() => page.locator('.record .code.refused').count()).toBeGreaterThan(0);
    if (pictures !== undefined) await takePicture(new URL(page.url()).hash, 'loop-why.png', '.record .code');
    await page.getByRole('navigation', { name: 'Owners' }).getByRole('link', { name: 'refused' }).click();
    await page.locator('h1', { hasText: 'full/refused' }).waitFor();
  });

  test('an object that does not exist is told', async () => {
    const page = await openPage('#/objects/deployments.apps/shop/nowhere');
    await expect.poll(() => page.locator('.why').innerText()).toContain('no such object');
  });
});

describe('the loop', () => {
  test('shows the lease, a lane for each controller that works, and the caches', async () => {
    const page = await openPage('#/loop');
    await page.getByRole('heading', { name: 'This process leads' }).waitFor();
    await page.locator('.lane', { hasText: 'deployment-controller' }).first().waitFor();
    const caches = page.locator('.cache', { hasText: 'deployments.apps' });
    await expect.poll(() => caches.count()).toBe(1);
    const idle = page.locator('details.idle');
    if ((await idle.count()) > 0) {
      await idle.locator('summary').click();
      await idle.locator('.idle-lane').first().waitFor();
    }
  });
});

describe('try', () => {
  test('a Deployment is scaled, a pod is killed, and its owner replaces it', async ({ signal }) => {
    await cluster.client.create(Deployments, deployment('heal', 2), signal);
    const page = await openPage('#/objects/deployments.apps/shop/heal');
    await page.getByLabel('Replicas').fill('4');
    await page.getByRole('button', { name: /^Scale\b/ }).click();
    await page.locator('.told', { hasText: 'scaled to 4' }).waitFor();
    await page.goto(`${loopUrl(cluster)}#/cluster?namespace=shop&name=heal`);
    const ready = card(page, 'heal').locator('.chip.good');
    await expect.poll(() => ready.count()).toBe(4);
    const victim = await ready.first().getAttribute('href');
    await ready.first().click();
    await page.getByRole('button', { name: /^Kill\b/ }).click();
    await page.locator('.told', { hasText: 'is being deleted' }).waitFor();
    await page.getByRole('link', { name: 'Cluster' }).click();
    await expect.poll(() => page.locator(`.chip[href="${victim}"]`).count()).toBe(0);
    await expect.poll(() => ready.count()).toBe(4);
  });

  test('the lease is taken away, watches are cut, the API is slow, and all of it heals', async ({ signal }) => {
    const page = await openPage('#/cluster?namespace=shop&name=survivor');
    const leadership = page.locator('.leadership');
    await page.getByRole('button', { name: 'Take the lease away' }).click();
    await leadership.getByText(/standby|no leader/).waitFor();
    await leadership.getByText('leader', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Slow the API' }).click();
    await page.locator('.told', { hasText: '300 ms longer' }).waitFor();
    await page.getByRole('button', { name: 'Cut all watches' }).click();
    await page.locator('.told', { hasText: 'All watches were cut' }).waitFor();
    await cluster.client.create(Deployments, deployment('survivor', 2), signal);
    await expect.poll(() => card(page, 'survivor').locator('.chip.good').count()).toBe(2);
  });
});

describe('a connection that is lost', () => {
  test('is told, and the next picture replaces everything', async ({ signal }) => {
    const proxy = await ReverseProxy.start(loopUrl(cluster));
    cleanUps.push(() => proxy[Symbol.asyncDispose]());
    const page = await openPage('#/cluster?namespace=shop', { base: proxy.url });
    await card(page, 'web').first().waitFor();
    await cluster.client.create(Deployments, deployment('before', 1), signal);
    await card(page, 'before').waitFor();
    await proxy.cut();
    const banner = page.getByRole('status').getByText('Connection lost, trying again');
    await banner.waitFor();
    await cluster.client.delete(Deployments, objectKey(namespace, 'before'), {}, signal);
    await cluster.client.create(Deployments, deployment('late', 1), signal);
    await proxy.restore();
    await card(page, 'late').waitFor();
    await banner.waitFor({ state: 'detached' });
    await card(page, 'before').waitFor({ state: 'detached' });
    // The browser itself reports each attempt that was refused.
    const own = complaints.splice(0).filter((text) => !text.includes('net::ERR_'));
    expect(own).toEqual([]);
  });
});

describe('a thousand pods', () => {
  test('are few elements each, are drawn once per frame, and one change draws one pod', async ({ signal }) => {
    const large = await startSandboxCluster({ logger: silentLogger, nodes: 12, cloud: false });
    cleanUps.push(() => large.stop());
    const page = await openPage('#/cluster', { base: loopUrl(large) });
    await page.evaluate(startCounting);
    await large.client.create(Namespaces, { metadata: { name: namespace } }, signal);
    await large.client.create(Deployments, deployment('many', 1000), signal);
    const ready = page.locator('.square:has(.mark.good)');
    await expect.poll(() => ready.count(), { interval: 500 }).toBe(1000);
    const { drawings, frames } = await page.evaluate<Counts>(readCounts);
    expect(drawings).toBeLessThanOrEqual(2 * frames);
    expect(await page.evaluate<number>(countElements)).toBeLessThan(6 * 1000 + 500);
    // Quiet first: what is still counted then is that one change.
    const complete = ({ status }: Deployment): boolean => isConditionTrue(status?.conditions, 'Available');
    await watchUntil(large.client, Deployments, { namespace }, complete, signal);
    await expect.poll(() => card(page, 'many').locator('.root .mark.good').count()).toBe(1);
    await page.evaluate(startCounting);
    const { items } = await large.client.list(Pods, { namespace, limit: 1 }, signal);
    const [victim] = items;
    if (victim === undefined) throw new Error('there is no pod');
    await large.client.delete(Pods, objectKey(namespace, victim.metadata.name), {}, signal);
    await page.locator(`[data-pod="${victim.metadata.uid}"]`).first().waitFor({ state: 'detached' });
    await expect.poll(() => ready.count()).toBe(1000);
    expect((await page.evaluate<Counts>(readCounts)).changes).toBeLessThan(200);
    // It still answers.
    await ready.nth(500).click();
    await page.locator('h1', { hasText: 'Pod' }).waitFor();
  });
});

describe('by keyboard', () => {
  test('the skip link, the filter and the links work', async () => {
    const page = await openPage('#/cluster');
    await card(page, 'web').first().waitFor();
    const focused = (): Promise<string> => page.evaluate(focusedText);
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(focusedTag)).toBe('MAIN');
    for (let stops = 0; stops < 3; stops++) await page.keyboard.press('Tab');
    expect(await page.evaluate(focusedTag)).toBe('INPUT');
    await page.keyboard.type('web');
    await expect.poll(() => page.url()).toContain('name=web');
    await expect.poll(() => card(page, 'db').count()).toBe(0);
    const link = card(page, 'web').first().locator('.root .name');
    await link.focus();
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await page.keyboard.press('Enter');
    await page.locator('h1', { hasText: 'shop/web' }).waitFor();
    await expect.poll(focused).toContain('shop/web');
    await page.goBack();
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('web');
  });
});

describe('for everybody', () => {
  const views = [
    { view: 'cluster', hash: '#/cluster', shows: '.tree' },
    { view: 'loop', hash: '#/loop', shows: '.lane' },
    { view: 'why', hash: '#/objects/deployments.apps/shop/api', shows: '.record' },
  ];
  for (const colorScheme of ['light', 'dark'] as const) {
    test.each(views)(`axe finds nothing in $view, ${colorScheme}`, async ({ hash, shows }) => {
      const page = await openPage(hash, { colorScheme, reducedMotion: 'reduce' });
      await page.locator(shows).first().waitFor();
      await page.evaluate(readFileSync(axeFile, 'utf8'));
      expect(await page.evaluate(findViolations)).toEqual([]);
    });
  }

  test.each(views)('$view fits on a screen of 360 pixels', async ({ hash, shows }) => {
    const page = await openPage(hash, { viewport: { width: 360, height: 740 } });
    await page.locator(shows).first().waitFor();
    expect(await page.evaluate(pageWidth)).toBeLessThanOrEqual(360);
    expect(await isWithin(page.locator(shows).first(), page.locator('main'))).toBe(true);
  });
});
