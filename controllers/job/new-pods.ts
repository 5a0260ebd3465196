import { Jobs, type Cached, type Container, type Job, type Pod, type Unsaved } from '../../pkg/api/index.ts';
import { podFromTemplate } from '../../pkg/controller/index.ts';
import {
  completionIndexAnnotation,
  countedIndexFailures,
  ignoredIndexFailures,
  ignoredIndexFailuresAnnotation,
  indexFailuresAnnotation,
  trackingFinalizer,
} from './job-pods.ts';
import { hasBackoffPerIndex } from './job-spec.ts';
import { countsAsFailure, judgeFailure } from './pod-failure-policy.ts';

const indexVariable = 'JOB_COMPLETION_INDEX';

/** A pod for the Job, with the tracking finalizer. */
export function newPod(job: Cached<Job>): Unsaved<Pod> {
  const pod = podFromTemplate(job.spec.template, Jobs, job);
  const finalizers = pod.metadata.finalizers ?? [];
  if (!finalizers.includes(trackingFinalizer)) pod.metadata.finalizers = [...finalizers, trackingFinalizer];
  return pod;
}

/** A pod for one index of the Job. `replaced` is the last failed pod of that index. */
export function newIndexedPod(job: Cached<Job>, index: number, replaced: Cached<Pod> | undefined): Unsaved<Pod> {
  const pod = newPod(job);
  const { metadata, spec } = pod;
  metadata.generateName = indexedNamePrefix(job.metadata.name, index);
  metadata.labels = { ...metadata.labels, [completionIndexAnnotation]: String(index) };
  metadata.annotations = {
    ...metadata.annotations,
    [completionIndexAnnotation]: String(index),
    ...(hasBackoffPerIndex(job) && failureAnnotations(job, replaced)),
  };
  spec.hostname = `${job.metadata.name}-${String(index)}`;
  for (const container of [...(spec.initContainers ?? []), ...spec.containers]) addIndexVariable(container);
  return pod;
}

/** The API server truncates longer prefixes to add five random characters. The index must not be truncated. */
const longestPrefix = 58;

function indexedNamePrefix(jobName: string, index: number): string {
  const suffix = `-${String(index)}-`;
  return `${jobName.slice(0, longestPrefix - suffix.length)}${suffix}`;
}

/** The number of failures of the index, continued from its last failed pod. */
function failureAnnotations(job: Cached<Job>, replaced: Cached<Pod> | undefined): Record<string, string> {
  if (replaced === undefined) return { [indexFailuresAnnotation]: '0' };
  const counts = countsAsFailure(judgeFailure(job.spec.podFailurePolicy, replaced));
  const ignored = ignoredIndexFailures(replaced) + (counts ? 0 : 1);
  return {
    [indexFailuresAnnotation]: String(countedIndexFailures(replaced) + (counts ? 1 : 0)),
    ...(ignored > 0 && { [ignoredIndexFailuresAnnotation]: String(ignored) }),
  };
}

function addIndexVariable(container: Container): void {
  const variables = container.env ?? [];
  if (variables.some(({ name }) => name === indexVariable)) return;
  const fieldPath = `metadata.labels['${completionIndexAnnotation}']`;
  container.env = [...variables, { name: indexVariable, valueFrom: { fieldRef: { fieldPath } } }];
}
