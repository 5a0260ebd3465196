import type { PodGroup, Workload } from '../../pkg/api/index.ts';
import { defineIndex } from '../../informers/index.ts';
import { jobOf, workloadOf } from './gang.ts';

export const workloadsByJob = defineIndex<Workload>('job', (workload) => {
  const key = jobOf(workload);
  return key === undefined ? [] : [key];
});

export const groupsByWorkload = defineIndex<PodGroup>('workload', (group) => {
  const key = workloadOf(group);
  return key === undefined ? [] : [key];
});
