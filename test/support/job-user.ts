import {
  isConditionTrue,
  Jobs,
  keyOf,
  objectKey,
  Pods,
  type Job,
  type JobSpec,
  type Kind,
  type KubeObject,
  type Pod,
  type PodSpec,
  type Unsaved,
} from '../../pkg/api/index.ts';
import type { ListOptions } from '../../pkg/client/index.ts';
import { podSettingNames } from '../../pkg/hollow/index.ts';
import { NamespaceUser } from './namespace-user.ts';

export interface JobDescription extends Omit<Partial<JobSpec>, 'template'> {
  /** Annotations of the pods, for hollow nodes. */
  readonly annotations?: Record<string, string>;
  readonly labels?: Record<string, string>;
  readonly pod?: Partial<PodSpec>;
}

/** The pods terminate at once, with this code. */
export function exitingWith(exitCode: number | string): Record<string, string> {
  return { [podSettingNames.finishAfter]: '0s', [podSettingNames.exitCode]: String(exitCode) };
}

export function isOver({ status }: Job): boolean {
  return isConditionTrue(status?.conditions, 'Complete') || isConditionTrue(status?.conditions, 'Failed');
}

/** Acts like a user of Jobs and their pods, in one namespace. */
export class JobUser extends NamespaceUser {
  create(name: string, { annotations, labels, pod, ...spec }: JobDescription): Promise<Job> {
    const template = {
      metadata: { annotations, labels },
      spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example' }], ...pod },
    };
    const job: Unsaved<Job> = { metadata: { namespace: this.namespace, name }, spec: { ...spec, template } };
    return this.client.create(Jobs, job, this.signal);
  }

  patch(name: string, spec: object): Promise<Job> {
    const key = objectKey(this.namespace, name);
    return this.client.patch(Jobs, key, { type: 'merge', body: { spec } }, this.signal);
  }

  /** Waits until the Job matches. */
  until(name: string, isWanted: (job: Job) => boolean): Promise<Job> {
    return this.#first(Jobs, { fieldSelector: `metadata.name=${name}` }, isWanted);
  }

  untilOver(name: string): Promise<Job> {
    return this.until(name, isOver);
  }

  /** A running pod of the Job that is not terminating. */
  running(jobName: string, index?: number): Promise<Pod> {
    const ofIndex = index === undefined ? '' : `,batch.kubernetes.io/job-completion-index=${String(index)}`;
    const labelSelector = `batch.kubernetes.io/job-name=${jobName}${ofIndex}`;
    return this.pod(
      labelSelector,
      ({ metadata, status }) =>
        status?.phase === 'Running' &&
        metadata.deletionTimestamp === undefined &&
        metadata.annotations?.[podSettingNames.finishAfter] === undefined,
    );
  }

  /** Waits for a selected pod that matches. */
  pod(labelSelector: string, isWanted: (pod: Pod) => boolean): Promise<Pod> {
    return this.#first(Pods, { labelSelector }, isWanted);
  }

  /** Terminates a pod with this code. */
  finish(pod: Pod, exitCode = 0): Promise<Pod> {
    return this.patchPod(pod, { metadata: { annotations: exitingWith(exitCode) } });
  }

  patchPod(pod: Pod, body: object): Promise<Pod> {
    return this.client.patch(Pods, keyOf(pod), { type: 'merge', body }, this.signal);
  }

  deletePod(pod: Pod): Promise<void> {
    return this.client.delete(Pods, keyOf(pod), {}, this.signal);
  }

  async #first<T extends KubeObject>(
    kind: Kind<T>,
    selection: Pick<ListOptions, 'labelSelector' | 'fieldSelector'>,
    isWanted: (object: T) => boolean,
  ): Promise<T> {
    const { client, namespace, signal } = this;
    for (;;) {
      const { items, metadata } = await client.listAll(kind, { namespace, ...selection }, signal);
      const found = items.find(isWanted);
      if (found !== undefined) return found;
      const from = { namespace, ...selection, resourceVersion: metadata.resourceVersion };
      for await (const event of client.watch(kind, from, signal)) {
        if ((event.type === 'ADDED' || event.type === 'MODIFIED') && isWanted(event.object)) return event.object;
      }
      signal.throwIfAborted();
    }
  }
}
