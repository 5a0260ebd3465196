import {
  apiVersionOf,
  controllerReference,
  copyOf,
  findCondition,
  isBeingDeleted,
  isControlledBy,
  Jobs,
  objectKey,
  PodGroups,
  Workloads,
  type Cached,
  type Job,
  type ObjectKey,
  type Pod,
  type PodGroup,
  type Unsaved,
  type Workload,
} from '../../pkg/api/index.ts';
import { encodeSafely } from '../../pkg/revisions/index.ts';
import { isIndexed } from './job-spec.ts';

/** Whether all pods of the Job run at the same time, so that it makes sense to schedule them together. */
export function isGang(job: Cached<Job>): boolean {
  const { parallelism, completions, template } = job.spec;
  if (!isIndexed(job) || isBeingDeleted(job.metadata)) return false;
  if (parallelism === undefined || parallelism <= 1 || completions !== parallelism) return false;
  return (template.spec?.schedulingGroup ?? undefined) === undefined; // else the user has chosen a group
}

/** Whether the Job has never started. A Job that was there before the gate was on keeps being scheduled as before. */
export function isNew({ status }: Cached<Job>, pods: readonly Cached<Pod>[]): boolean {
  const { startTime, succeeded = 0, failed = 0, conditions } = status ?? {};
  const hasBegun = pods.length > 0 || (startTime ?? undefined) !== undefined || succeeded > 0 || failed > 0;
  return !hasBegun && findCondition(conditions, 'Suspended') === undefined;
}

/** The Job that a Workload is for, by name only: the owner reference tells whether it is really that Job. */
export function jobOf({ metadata, spec }: Cached<Workload>): ObjectKey | undefined {
  const { apiGroup, kind, name } = spec.controllerRef ?? {};
  if (apiGroup !== Jobs.group || kind !== Jobs.kind || name === undefined || name === '') return undefined;
  return objectKey(metadata.namespace, name);
}

/** The Workload whose template a PodGroup was made from. */
export function workloadOf({ metadata, spec }: Cached<PodGroup>): ObjectKey | undefined {
  const name = spec.podGroupTemplateRef?.workload?.workloadName;
  return name === undefined || name === '' ? undefined : objectKey(metadata.namespace, name);
}

/** What to do about one of the two objects. With `none` the pods of the Job are scheduled one by one. */
export type Choice<T> = { readonly kind: 'use'; readonly object: Cached<T> } | { readonly kind: 'create' | 'none' };

export function chooseWorkload(
  job: Cached<Job>,
  pods: readonly Cached<Pod>[],
  found: readonly Cached<Workload>[],
): Choice<Workload> {
  const [object, ...others] = found;
  if (object === undefined) return { kind: isNew(job, pods) ? 'create' : 'none' };
  const isSupported = isControlledBy(object, job) && (object.spec.podGroupTemplates ?? []).length === 1;
  return others.length === 0 && isSupported ? { kind: 'use', object } : { kind: 'none' };
}

export function choosePodGroup(job: Cached<Job>, found: readonly Cached<PodGroup>[]): Choice<PodGroup> {
  const [object, ...others] = found;
  if (object === undefined) return { kind: 'create' };
  return others.length === 0 && isControlledBy(object, job) ? { kind: 'use', object } : { kind: 'none' };
}

export function newWorkload(job: Cached<Job>): Unsaved<Workload> {
  const { name, namespace } = job.metadata;
  const minCount = job.spec.parallelism ?? 0;
  return {
    apiVersion: apiVersionOf(Workloads),
    kind: Workloads.kind,
    metadata: { name: workloadName(job), namespace, ownerReferences: [controllerReference(Jobs, job)] },
    spec: {
      controllerRef: { apiGroup: Jobs.group, kind: Jobs.kind, name },
      podGroupTemplates: [{ name: `${name}-pgt-0`, schedulingPolicy: { gang: { minCount } } }],
    },
  };
}

/** A group from the only template of the Workload. Its second owner does not keep the Workload from being deleted. */
export function newPodGroup(job: Cached<Job>, workload: Cached<Workload>): Unsaved<PodGroup> {
  const [template] = copyOf<Workload>(workload).spec.podGroupTemplates ?? [];
  const { name, uid } = workload.metadata;
  const templateName = template?.name ?? '';
  const owner = { apiVersion: apiVersionOf(Workloads), kind: Workloads.kind, name, uid };
  return {
    apiVersion: apiVersionOf(PodGroups),
    kind: PodGroups.kind,
    metadata: {
      name: podGroupName(name, templateName),
      namespace: job.metadata.namespace,
      ownerReferences: [controllerReference(Jobs, job), owner],
    },
    spec: {
      podGroupTemplateRef: { workload: { workloadName: name, podGroupTemplateName: templateName } },
      schedulingPolicy: template?.schedulingPolicy ?? {},
    },
  };
}

const longestName = 253;

/** The same for a Job after every restart, and another one for a Job that is created again. */
export function workloadName({ metadata }: Cached<Job>): string {
  const hash = encodeSafely(fnv1a(`(types.UID)${metadata.uid}`));
  return `${metadata.name.slice(0, longestName - hash.length - 1)}-${hash}`;
}

/** `<workload>-<template>-<hash>`. If that is too long, each of the two names has half of the room, and what the other leaves. */
export function podGroupName(workload: string, template: string): string {
  const hash = encodeSafely(fnv1a(`${workload}${template}`));
  const room = longestName - hash.length - 2;
  const half = Math.floor(room / 2);
  const roomOfWorkload = Math.max(room - half, room - template.length);
  const shortWorkload = workload.slice(0, roomOfWorkload);
  return `${shortWorkload}-${template.slice(0, Math.max(half, room - workload.length))}-${hash}`;
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text, 'utf8')) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
