import {
  ConfigMaps,
  PersistentVolumeClaims,
  Pods,
  ResourceQuotas,
  Services,
  type Kind,
  type KubeObject,
  type ResourceQuota,
} from '../../pkg/api/index.ts';
import { isAlreadyExists, isConflict, isForbidden, isInvalid, isNotFound } from '../../pkg/client/index.ts';
import { zeroAmount } from '../../pkg/quantities/index.ts';
import {
  addUsage,
  createCountEvaluator,
  createPodEvaluator,
  isEqualUsage,
  maskUsage,
  scopesOf,
  serviceEvaluator,
  usageOf,
  volumeClaimEvaluator,
  type Evaluator,
  type MutableUsage,
} from '../../pkg/quota/index.ts';
import { eventually } from './eventually.ts';
import type { QuotaUser } from './quota-user.ts';
import { seededRandom } from './random.ts';

const specs: Readonly<Record<string, ResourceQuota['spec']>> = {
  compute: {
    hard: { pods: '12', 'count/pods': '16', 'requests.cpu': '4', 'limits.memory': '3Gi' },
    scopes: ['NotBestEffort'],
  },
  'best-effort': { hard: { pods: '4' }, scopes: ['BestEffort'] },
  terminating: { hard: { pods: '3' }, scopes: ['Terminating'] },
  objects: { hard: { configmaps: '8', services: '6', 'services.nodeports': '4', 'count/configmaps': '7' } },
  storage: {
    hard: {
      persistentvolumeclaims: '6',
      'requests.storage': '10Gi',
      'gold.storageclass.storage.k8s.io/requests.storage': '4Gi',
    },
  },
};
const amounts = ['1', '0.5', '250m', '1e-1', '100m', '1500m'];
const sizes = ['128Mi', '0.25Gi', '100M', '1e8', '134217728', '1Gi'];

interface Charged {
  readonly kind: Kind;
  readonly evaluator: Evaluator;
}

/** Random users that create, change and delete what quotas limit. Many of their requests are refused. */
export class QuotaChurn {
  readonly #user: QuotaUser;
  readonly #random: () => number;
  readonly #charged: readonly Charged[] = [
    { kind: Pods, evaluator: createPodEvaluator({ podLevel: true, nowMs: () => Date.now() }) },
    { kind: Services, evaluator: serviceEvaluator },
    { kind: PersistentVolumeClaims, evaluator: volumeClaimEvaluator },
    { kind: ConfigMaps, evaluator: createCountEvaluator('configmaps') },
  ];

  constructor(user: QuotaUser, seed: number) {
    this.#user = user;
    this.#random = seededRandom(seed);
  }

  async createQuotas(): Promise<void> {
    for (const [name, { hard = {}, ...more } = {}] of Object.entries(specs)) await this.#user.quota(name, hard, more);
  }

  /** Several users at once, each with its own names. */
  async run(steps: number): Promise<void> {
    const users = 4;
    const walk = async (own: number): Promise<void> => {
      for (let step = 0; step < steps / users; step++) await this.#step(`u${own}-${this.#below(6)}`);
    };
    await Promise.all(Array.from({ length: users }, (_, own) => walk(own)));
  }

  async #step(name: string): Promise<void> {
    const actions = [
      () => this.#createPod(name),
      () => this.#createPod(name),
      () => this.#user.remove(Pods, name),
      () => this.#user.patch(Pods, name, { status: { phase: this.#pick(['Succeeded', 'Running']) } }, 'status'),
      () => this.#user.patch(Pods, name, { spec: { activeDeadlineSeconds: 1 + this.#below(1000) } }),
      () => this.#user.create(ConfigMaps, { metadata: { name } }),
      () => this.#user.remove(ConfigMaps, name),
      () => this.#createService(name),
      () => this.#user.patch(Services, name, { spec: { type: this.#pick(['ClusterIP', 'NodePort']) } }),
      () => this.#user.remove(Services, name),
      () => this.#createClaim(name),
      () => this.#user.remove(PersistentVolumeClaims, name),
    ];
    try {
      await this.#pick(actions)();
    } catch (error) {
      if (!isExpected(error)) throw error;
    }
  }

  #createPod(name: string): Promise<KubeObject> {
    const size = { cpu: this.#pick(amounts), memory: this.#pick(sizes) };
    const resources = this.#random() < 0.3 ? {} : { requests: size, limits: size };
    const containers = [{ name: 'main', image: 'example', resources }];
    const deadline = this.#random() < 0.2 ? { activeDeadlineSeconds: 2000 } : {};
    return this.#user.create(Pods, { metadata: { name }, spec: { containers, ...deadline } });
  }

  #createService(name: string): Promise<KubeObject> {
    const spec = { type: this.#pick(['ClusterIP', 'NodePort']), ports: [{ port: 80 }] };
    return this.#user.create(Services, { metadata: { name }, spec });
  }

  #createClaim(name: string): Promise<KubeObject> {
    const requests = { storage: this.#pick(sizes) };
    const storageClassName = this.#pick(['gold', 'silver']);
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests }, storageClassName };
    return this.#user.create(PersistentVolumeClaims, { metadata: { name }, spec });
  }

  /** Waits until the status of every quota is what its objects cost. Returns the usage by quota, in billionths. */
  async untilExact(): Promise<Record<string, unknown>> {
    return eventually(async () => {
      const quotas = await this.#quotas();
      const lists = await this.#lists();
      const isExact = quotas.every((quota) => isEqualUsage(usageOf(quota.status?.used), computeUsage(quota, lists)));
      return isExact && describeUsage(quotas);
    }, this.#user.signal);
  }

  /** The API server accepts exactly as many objects as the status leaves free. */
  async fillUp(): Promise<void> {
    const quota = await this.#user.read('objects');
    const free = 7 - Number(quota.status?.used?.['count/configmaps']);
    for (let i = 0; i < free; i++) await this.#user.create(ConfigMaps, { metadata: { name: `filler-${i}` } });
    const more = this.#user.create(ConfigMaps, { metadata: { name: 'too-much' } });
    const refusal = await more.then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!isForbidden(refusal)) throw new Error('the API server accepts more than the status leaves free');
  }

  async emptyAgain(): Promise<void> {
    for (let i = 0; i < 7; i++) await this.#user.remove(ConfigMaps, `filler-${i}`);
  }

  async clearStatuses(): Promise<void> {
    for (const name of Object.keys(specs)) {
      await this.#user.patch(ResourceQuotas, name, { status: { hard: null, used: null } }, 'status');
    }
  }

  /** Waits until every quota has a status. */
  async untilComputed(): Promise<Record<string, unknown>> {
    return eventually(async () => {
      const quotas = await this.#quotas();
      return quotas.every(({ status }) => status?.used !== undefined) && describeUsage(quotas);
    }, this.#user.signal);
  }

  async #quotas(): Promise<ResourceQuota[]> {
    return (await this.#user.client.listAll(ResourceQuotas, { namespace: this.#user.namespace }, this.#user.signal))
      .items;
  }

  async #lists(): Promise<(Charged & { readonly objects: readonly KubeObject[] })[]> {
    const { client, namespace, signal } = this.#user;
    return Promise.all(
      this.#charged.map(async (each) => ({
        ...each,
        objects: (await client.listAll(each.kind, { namespace }, signal)).items,
      })),
    );
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #pick<T>(values: readonly T[]): T {
    const value = values[this.#below(values.length)];
    if (value === undefined) throw new RangeError('nothing to pick from');
    return value;
  }
}

/** Refused by a quota or by validation, taken, or gone. */
function isExpected(error: unknown): boolean {
  return isForbidden(error) || isInvalid(error) || isNotFound(error) || isAlreadyExists(error) || isConflict(error);
}

function computeUsage(
  quota: ResourceQuota,
  lists: readonly { readonly evaluator: Evaluator; readonly objects: readonly KubeObject[] }[],
): MutableUsage {
  const hard = usageOf(quota.spec?.hard);
  const total: MutableUsage = new Map([...hard.keys()].map((name) => [name, zeroAmount]));
  for (const { evaluator, objects } of lists) {
    for (const object of objects) {
      if (!scopesOf(quota).every((scope) => evaluator.matchesScope(scope, object))) continue;
      addUsage(
        total,
        maskUsage(evaluator.usageOf(object), new Set([...hard.keys()].filter((name) => evaluator.tracks(name)))),
      );
    }
  }
  return total;
}

function describeUsage(quotas: readonly ResourceQuota[]): Record<string, unknown> {
  return Object.fromEntries(
    quotas.map(({ metadata, status }) => [
      metadata.name,
      Object.fromEntries([...usageOf(status?.used)].map(([name, { nanos }]) => [name, String(nanos)])),
    ]),
  );
}
