import {
  DeviceTaintRules,
  objectKey,
  Pods,
  type DeviceTaintRule,
  type DeviceTaintRuleSpec,
  type ObjectKey,
  type Pod,
} from '../../pkg/api/index.ts';
import { isNotFound } from '../../pkg/client/index.ts';
import { ClaimUser, consumerOf, named } from './claim-user.ts';
import { eventually } from './eventually.ts';

export const broken = { key: 'example.com/broken', effect: 'NoExecute' };
export const tolerating = (key: string, tolerationSeconds?: number) => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds,
});

type RuleCondition = NonNullable<NonNullable<DeviceTaintRule['status']>['conditions']>[number];

interface RuleDescription {
  readonly effect: string;
  readonly key?: string;
  readonly device?: string;
}

/** Does with devices what drivers, administrators and schedulers do. Rules have the name of the namespace before theirs. */
export class DeviceTaintUser extends ClaimUser {
  /** A running pod with a claim of its name, and a device. */
  async deviceUser(name: string, device: string, tolerations?: Parameters<ClaimUser['allocate']>[3]): Promise<Pod> {
    await this.claim(name);
    const finalizers = ['example.com/keep']; // what is left of an evicted pod can be compared
    const pod = await this.pod(name, { claims: { own: named(name) }, nodeName: 'node', finalizers });
    await this.allocate(name, [consumerOf(pod)], device, tolerations);
    await this.setPodStatus(name, { phase: 'Running' });
    return pod;
  }

  async untilEvicted(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      await eventually(async () => {
        try {
          const { metadata } = await this.client.get(Pods, objectKey(this.namespace, name), this.signal);
          return metadata.deletionTimestamp !== undefined;
        } catch (error) {
          if (isNotFound(error)) return true;
          throw error;
        }
      }, this.signal);
    }
  }

  async rule(name: string, { effect, key = 'example.com/rule', device }: RuleDescription): Promise<void> {
    const deviceSelector = { driver: 'example.com', pool: this.namespace, device };
    const spec: DeviceTaintRuleSpec = { deviceSelector, taint: { key, effect } };
    await this.client.create(DeviceTaintRules, { metadata: { name: `${this.namespace}-${name}` }, spec }, this.signal);
  }

  /** The rule, once its condition has this reason. */
  untilReason(name: string, reason: string): Promise<DeviceTaintRule> {
    return this.#until(name, (condition) => condition.reason === reason);
  }

  /** The rule, once the message of its condition contains this text. */
  untilMessage(name: string, text: string): Promise<DeviceTaintRule> {
    return this.#until(name, ({ message }) => message.includes(text));
  }

  async deleteRules(...names: readonly string[]): Promise<void> {
    for (const name of names) await this.client.delete(DeviceTaintRules, this.#keyOf(name), {}, this.signal);
  }

  #keyOf(name: string): ObjectKey {
    return objectKey(undefined, `${this.namespace}-${name}`);
  }

  #until(name: string, isSo: (condition: RuleCondition) => boolean): Promise<DeviceTaintRule> {
    return eventually(async () => {
      const rule = await this.client.get(DeviceTaintRules, this.#keyOf(name), this.signal);
      return (rule.status?.conditions ?? []).some(isSo) && rule;
    }, this.signal);
  }
}
