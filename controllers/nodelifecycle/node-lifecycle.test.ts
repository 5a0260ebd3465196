import { describe, expect, test } from 'vitest';

import {
  findCondition,
  formatMicroTime,
  formatTime,
  keyOf,
  Leases,
  Nodes,
  objectKey,
  Pods,
  type Node,
  type Taint,
} from '../../pkg/api/index.ts';
import type { NewEvent } from '../../pkg/events/index.ts';
import { lease, node, pod, runningStatus } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { connectionError } from '../../test/support/scripted-client.ts';
import { createNodeLifecycleController } from './node-lifecycle.ts';

const options = {
  monitorPeriodMs: 5000,
  health: { graceMs: 50_000, startupGraceMs: 60_000 },
  zones: { evictionRate: 0.1, secondaryEvictionRate: 0.01, largeClusterSize: 50, unhealthyThreshold: 0.55 },
};
const { signal } = new AbortController();

/** The nodes of a cluster with one zone. The test decides which of them report. */
class Machines {
  readonly #base: TestContext;
  readonly #alive: Set<string>;

  constructor(base: TestContext, names: readonly string[]) {
    this.#base = base;
    this.#alive = new Set(names);
    for (const name of names) {
      if (base.server.stored(Nodes).some(({ metadata }) => metadata.name === name)) continue;
      base.server.seed(Nodes, node({ name }));
    }
  }

  silence(...names: readonly string[]): void {
    for (const name of names) this.#alive.delete(name);
  }

  async revive(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      this.#alive.add(name);
      await this.report(name);
    }
  }

  async report(name: string): Promise<void> {
    const now = formatTime(this.#base.clock.now());
    const ready = { type: 'Ready', status: 'True', lastHeartbeatTime: now, lastTransitionTime: now };
    const patch = { type: 'strategic', subresource: 'status', body: { status: { conditions: [ready] } } } as const;
    await this.#base.server.patch(Nodes, objectKey(undefined, name), patch, signal);
    await settle();
  }

  /** Advances the clock. Reporting nodes renew their leases every 5 s. */
  async pass(seconds: number): Promise<void> {
    for (let left = seconds; left > 0; left -= 5) {
      for (const name of this.#alive) {
        const spec = { renewTime: formatMicroTime(this.#base.clock.now()) };
        this.#base.server.seed(Leases, lease({ namespace: 'kube-node-lease', name, spec }));
      }
      await settle();
      await this.#base.clock.advance(Math.min(left, 5) * 1000);
      await settle();
    }
  }

  node(name: string): Node | undefined {
    return this.#base.server.stored(Nodes).find(({ metadata }) => metadata.name === name);
  }

  ready(name: string): string | undefined {
    return findCondition(this.node(name)?.status?.conditions, 'Ready')?.status;
  }

  /** The nodes with a NoExecute taint. */
  evicting(): readonly string[] {
    const isEvicting = ({ spec }: Node) => spec.taints?.some(({ effect }) => effect === 'NoExecute') === true;
    return this.#base.server
      .stored(Nodes)
      .filter(isEvicting)
      .map(({ metadata }) => metadata.name);
  }
}

interface Stage extends TestContext {
  readonly machines: Machines;
  readonly events: string[];
}

async function onStage(
  names: readonly string[],
  play: (stage: Stage) => Promise<void>,
  prepare: (base: TestContext) => void = () => {},
): Promise<void> {
  const base = createTestContext();
  const events: string[] = [];
  const recorder = { event: (_kind: unknown, _about: unknown, { message }: NewEvent) => void events.push(message) };
  const context = { ...base.context, recorderFor: () => recorder };
  prepare(base);
  const machines = new Machines(base, names);
  await whileRunning(base, createNodeLifecycleController(context, options), () => play({ ...base, machines, events }));
}

const unreachable: Taint = {
  key: 'node.kubernetes.io/unreachable',
  effect: 'NoExecute',
  timeAdded: '2026-01-01T00:00:00Z',
};

describe('node lifecycle', () => {
  test('marks the pods of an unreachable node when the answer to its own status write was lost', async () => {
    await onStage(['a', 'b', 'c'], async ({ machines, client, server, events }) => {
      server.seed(Pods, pod({ name: 'web', spec: { nodeName: 'a' }, status: runningStatus() }));
      await machines.pass(5);
      const repair = client.after('patch', ({ subresource }) => {
        if (subresource === 'status') throw connectionError();
      });
      machines.silence('a');
      await machines.pass(55);
      expect(machines.ready('a')).toBe('Unknown');
      repair();
      await machines.pass(10);
      const [web] = server.stored(Pods);
      expect(findCondition(web?.status?.conditions, 'Ready')?.status).toBe('False');
      expect(events).toContain('Node a status is now: NodeNotReady');
    });
  });

  test('writes nothing while all nodes are ready', async () => {
    await onStage(['a', 'b', 'c'], async ({ machines, client, events }) => {
      await machines.pass(200);
      expect(client.writes).toEqual([]);
      expect(events).toEqual(
        ['a', 'b', 'c'].map((name) => `Node ${name} event: Registered Node ${name} in Controller`),
      );
    });
  });

  test('sets an unreachable node to Unknown, marks its pods as not ready, and taints it', async () => {
    await onStage(['a', 'b', 'c'], async ({ machines, server, client, events }) => {
      server.seed(Pods, pod({ name: 'web', spec: { nodeName: 'a' }, status: runningStatus() }));
      await machines.pass(10);
      machines.silence('a');
      await machines.pass(45);
      expect(machines.ready('a')).toBe('True');
      await machines.pass(10);
      expect(machines.ready('a')).toBe('Unknown');
      await machines.pass(5);
      expect(
        machines
          .node('a')
          ?.spec.taints?.map(({ key, effect }) => `${key}:${effect}`)
          .toSorted(),
      ).toEqual(['node.kubernetes.io/unreachable:NoExecute', 'node.kubernetes.io/unreachable:NoSchedule']);
      const [web] = server.stored(Pods);
      expect(findCondition(web?.status?.conditions, 'Ready')?.status).toBe('False');
      expect(events.slice(3)).toEqual(['Node a status is now: NodeNotReady', 'Node is not ready']);
      const writes = client.writes.length;
      await machines.pass(60);
      expect(client.writes.length).toBe(writes);
    });
  });

  test('marks a pod that is bound to an unreachable node later', async () => {
    await onStage(['a', 'b', 'c'], async ({ machines, server }) => {
      machines.silence('a');
      await machines.pass(70);
      server.seed(Pods, pod({ name: 'late', spec: { nodeName: 'a' }, status: runningStatus() }));
      server.seed(Pods, pod({ name: 'well', spec: { nodeName: 'b' }, status: runningStatus() }));
      await settle();
      const ready = server.stored(Pods).map(({ status }) => findCondition(status?.conditions, 'Ready')?.status);
      expect(ready).toEqual(['False', 'True']);
    });
  });

  test('keeps a node that reports while its status is being written', async () => {
    await onStage(['a', 'b', 'c'], async ({ machines, client }) => {
      await machines.pass(10);
      machines.silence('a');
      const listen = client.before('patch', async () => {
        listen();
        await machines.report('a');
      });
      await machines.pass(60);
      expect(machines.ready('a')).toBe('True');
      expect(machines.evicting()).toEqual([]);
    });
  });

  test('removes the taint of a node that is ready again', async () => {
    await onStage(['a', 'b', 'c'], async ({ machines }) => {
      machines.silence('a');
      await machines.pass(70);
      expect(machines.evicting()).toEqual(['a']);
      await machines.revive('a');
      await machines.pass(10);
      expect(machines.node('a')?.spec.taints).toEqual([]);
    });
  });

  test('taints one node every ten seconds', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `n${index}`);
    await onStage(names, async ({ machines }) => {
      await machines.pass(10);
      machines.silence('n0', 'n1', 'n2', 'n3');
      await machines.pass(56);
      expect(machines.evicting()).toHaveLength(1);
      await machines.pass(10);
      expect(machines.evicting()).toHaveLength(2);
      await machines.pass(20);
      expect(machines.evicting()).toHaveLength(4);
    });
  });

  test('removes all taints in a full disruption, and taints again after it', async () => {
    await onStage(['a', 'b', 'c'], async ({ machines }) => {
      await machines.pass(10);
      machines.silence('a');
      await machines.pass(60);
      expect(machines.evicting()).toEqual(['a']);
      machines.silence('b', 'c');
      await machines.pass(300);
      expect(machines.ready('c')).toBe('Unknown');
      expect(machines.evicting()).toEqual([]);
      await machines.revive('c');
      await machines.pass(30);
      expect(machines.evicting()).toEqual(['a', 'b']);
    });
  });

  test('removes NoExecute taints of an earlier process and queues the nodes again', async () => {
    const seed = ({ server }: TestContext): void => {
      const conditions = [{ type: 'Ready', status: 'Unknown', lastHeartbeatTime: '2026-01-01T00:00:00Z' }];
      for (const name of ['lost-1', 'lost-2'])
        server.seed(Nodes, node({ name, spec: { taints: [unreachable] }, status: { conditions } }));
      server.seed(Pods, pod({ name: 'web', spec: { nodeName: 'lost-1' }, status: runningStatus() }));
    };
    await onStage(
      ['a', 'b', 'c'],
      async ({ machines, server }) => {
        await machines.pass(1);
        expect(machines.evicting()).toHaveLength(1);
        await machines.pass(10);
        expect(machines.evicting()).toEqual(['lost-1', 'lost-2']);
        const [web] = server.stored(Pods);
        expect(findCondition(web?.status?.conditions, 'Ready')?.status).toBe('False');
      },
      seed,
    );
  });

  test('retries after errors of the API server', async () => {
    await onStage(['a', 'b', 'c'], async ({ machines, client }) => {
      await machines.pass(10);
      machines.silence('a');
      const fail = client.before('patch', () => {
        throw apiError(500, 'InternalError');
      });
      await machines.pass(100);
      expect(machines.ready('a')).toBe('True');
      fail();
      await machines.pass(10);
      expect(machines.evicting()).toEqual(['a']);
    });
  });

  test('drops the state of a deleted node', async () => {
    await onStage(['a', 'b', 'c'], async ({ machines, server, events }) => {
      machines.silence('a');
      await machines.pass(70);
      await server.delete(Nodes, keyOf(node({ name: 'a' })), {}, signal);
      await machines.pass(10);
      expect(events.at(-1)).toBe('Node a event: Removing Node a from Controller');
    });
  });
});
