import { beforeEach, describe, expect, test } from 'vitest';

import { refusalOf, SandboxApi } from '../../../test/support/sandbox-api.ts';

let sandbox: SandboxApi;
beforeEach(() => {
  sandbox = new SandboxApi();
});

const podSpec = { containers: [{ name: 'c', image: 'i:1' }], restartPolicy: 'Never' };
const template = { spec: podSpec };
const job = (spec: object = {}, name = 'j') => ({ metadata: { name }, spec: { template, ...spec } });
const indexed = { completionMode: 'Indexed', completions: 3, parallelism: 3 };
const failJob = { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } };
const policy = (rule: object) => ({ podFailurePolicy: { rules: [{ ...failJob, ...rule }] } });

const defaults: { name: string; spec: object; expected: object; absent?: string }[] = [
  {
    name: 'one pod, once, and six retries',
    spec: {},
    expected: {
      completions: 1,
      parallelism: 1,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      suspend: false,
      podReplacementPolicy: 'TerminatingOrFailed',
      manualSelector: false,
    },
  },
  {
    name: 'no completions for a work queue, which sets only its parallelism',
    spec: { parallelism: 3 },
    expected: { parallelism: 3 },
    absent: 'completions',
  },
  {
    name: 'no backoff limit for the whole when each index has its own',
    spec: { ...indexed, backoffLimitPerIndex: 1 },
    expected: { backoffLimit: 2_147_483_647 },
  },
  {
    name: 'replacements only for failed pods with a failure policy',
    spec: policy({}),
    expected: { podReplacementPolicy: 'Failed' },
  },
  {
    name: 'a condition pattern that asks for True',
    spec: { podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] } },
    expected: { podFailurePolicy: { rules: [{ onPodConditions: [{ status: 'True' }] }] } },
  },
];

describe('a Job gets by default', () => {
  for (const { name, spec, expected, absent = 'none' } of defaults) {
    test(name, () => {
      const created = sandbox.create('jobs.batch', job(spec))['spec'];
      expect(created).toMatchObject(expected);
      expect(created).not.toHaveProperty(absent);
    });
  }

  test('the labels of its template and the generated ones', () => {
    const labelled = job({ template: { metadata: { labels: { a: 'b' } }, spec: podSpec } });
    expect(sandbox.create('jobs.batch', labelled).metadata.labels).toEqual({ a: 'b' });
    const { metadata } = sandbox.create('jobs.batch', job({}, 'plain'));
    expect(metadata.labels).toMatchObject({ 'job-name': 'plain', 'controller-uid': metadata.uid });
  });

  test('no generated selector with a manual one', () => {
    const spec = {
      manualSelector: true,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: podSpec },
    };
    expect(sandbox.create('jobs.batch', job(spec))['spec']).toMatchObject({ selector: { matchLabels: { a: 'b' } } });
  });
});

const refusals: { name: string; spec: object; expected: string[] }[] = [
  {
    name: 'pods that are always restarted, which is what a template without a policy gets',
    spec: { template: { spec: { containers: podSpec.containers } } },
    expected: ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  },
  {
    name: 'an unknown completion mode',
    spec: { completionMode: 'Random' },
    expected: ['spec.completionMode: Unsupported value: "Random": supported values: "NonIndexed", "Indexed"'],
  },
  {
    name: 'an indexed Job without completions',
    spec: { completionMode: 'Indexed', parallelism: 1 },
    expected: ['spec.completions: Required value: when completion mode is Indexed'],
  },
  {
    name: 'a backoff limit per index of a Job without indexes',
    spec: { backoffLimitPerIndex: 1 },
    expected: ['spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode'],
  },
  {
    name: 'a limit of failed indexes without a backoff limit per index',
    spec: { ...indexed, maxFailedIndexes: 1 },
    expected: ['spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified'],
  },
  {
    name: 'more failed indexes than completions',
    spec: { ...indexed, backoffLimitPerIndex: 1, maxFailedIndexes: 4 },
    expected: ['spec.maxFailedIndexes: Invalid value: 4: must be less than or equal to completions'],
  },
  {
    name: 'too many pods of an indexed Job at once',
    spec: { ...indexed, parallelism: 100_001 },
    expected: [
      'spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed',
    ],
  },
  {
    name: 'a success policy of a Job without indexes',
    spec: { successPolicy: { rules: [{ succeededCount: 1 }] } },
    expected: ['spec.successPolicy: Invalid value: {"rules":[{"succeededCount":1}]}: requires indexed completion mode'],
  },
  {
    name: 'a success policy without rules',
    spec: { ...indexed, successPolicy: { rules: [] } },
    expected: [
      'spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified',
    ],
  },
  {
    name: 'a success rule without criteria',
    spec: { ...indexed, successPolicy: { rules: [{}] } },
    expected: [
      'spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified',
    ],
  },
  {
    name: 'a success rule that requires more indexes than completions',
    spec: { ...indexed, successPolicy: { rules: [{ succeededCount: 4 }] } },
    expected: [
      'spec.successPolicy.rules[0].succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of specified completions)',
    ],
  },
  {
    name: 'a failure policy for pods whose containers are restarted',
    spec: { ...policy({}), template: { spec: { ...podSpec, restartPolicy: 'OnFailure' } } },
    expected: [
      'spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified',
    ],
  },
  {
    name: 'an unknown action',
    spec: policy({ action: 'Wait' }),
    expected: [
      'spec.podFailurePolicy.rules[0].action: Unsupported value: "Wait": supported values: "Count", "FailIndex", "FailJob", "Ignore"',
    ],
  },
  {
    name: 'the action FailIndex without a backoff limit per index',
    spec: policy({ action: 'FailIndex' }),
    expected: [
      'spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set',
    ],
  },
  {
    name: 'a failure rule without criteria',
    spec: policy({ onExitCodes: undefined }),
    expected: [
      'spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
    ],
  },
  {
    name: 'a failure rule for exit code 0',
    spec: policy({ onExitCodes: { operator: 'In', values: [0, 1] } }),
    expected: [
      'spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator',
    ],
  },
  {
    name: 'exit codes out of order',
    spec: policy({ onExitCodes: { operator: 'NotIn', values: [2, 1] } }),
    expected: ['spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,1]: must be ordered'],
  },
  {
    name: 'a container that the template does not have',
    spec: policy({ onExitCodes: { ...failJob.onExitCodes, containerName: 'x' } }),
    expected: [
      'spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "x": must be one of the container or initContainer names in the pod template',
    ],
  },
  {
    name: 'another replacement policy than Failed beside a failure policy',
    spec: { ...policy({}), podReplacementPolicy: 'TerminatingOrFailed' },
    expected: ['spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"'],
  },
  {
    name: 'a template label that the server generates with another value',
    spec: { template: { metadata: { labels: { 'job-name': 'other' } }, spec: podSpec } },
    expected: ["spec.template.metadata.labels[job-name]: Invalid value: {}: must be 'j'"],
  },
];

describe('validation of Jobs refuses', () => {
  for (const { name, spec, expected } of refusals) {
    test(name, () => {
      const refused = refusalOf(() => sandbox.create('jobs.batch', job(spec)));
      const shortened = refused.map((each) => each.replace(/\{"controller-uid".*?}/, '{}'));
      expect(shortened).toEqual(expected);
    });
  }

  test('an indexed Job whose pods could not have its name', () => {
    const refused = refusalOf(() => sandbox.create('jobs.batch', job(indexed, 'j'.repeat(63))));
    expect(refused[0]).toContain('will not able to create pod with invalid DNS label');
  });
});

const suspended = { suspend: true };
const nodeSelector = { template: { spec: { ...podSpec, nodeSelector: { a: 'b' } } } };
const image = { template: { spec: { ...podSpec, containers: [{ name: 'c', image: 'i:2' }] } } };
const resources = {
  template: { spec: { ...podSpec, containers: [{ name: 'c', image: 'i:1', resources: { requests: { cpu: '1' } } }] } },
};
const updates: { name: string; from: object; status?: object; change: object; field?: string }[] = [
  { name: 'parallelism', from: {}, change: { parallelism: 2 } },
  { name: 'completions', from: {}, change: { completions: 2 }, field: 'spec.completions' },
  {
    name: 'completions of an indexed Job, with parallelism',
    from: indexed,
    change: { completions: 5, parallelism: 5 },
  },
  {
    name: 'completions of an indexed Job, without parallelism',
    from: indexed,
    change: { completions: 5 },
    field: 'spec.completions',
  },
  { name: 'the completion mode', from: { completions: 1 }, change: indexed, field: 'spec.completionMode' },
  {
    name: 'the success policy',
    from: indexed,
    change: { successPolicy: { rules: [{ succeededCount: 1 }] } },
    field: 'spec.successPolicy',
  },
  { name: 'the managedBy field', from: {}, change: { managedBy: 'example.com/x' }, field: 'spec.managedBy' },
  { name: 'the node selector of a running Job', from: {}, change: nodeSelector, field: 'spec.template' },
  { name: 'the node selector of a suspended Job', from: suspended, change: nodeSelector },
  { name: 'the resources of a suspended Job', from: suspended, change: resources },
  { name: 'the resources of a running Job', from: {}, change: resources, field: 'spec.template' },
  { name: 'the image of a suspended Job', from: suspended, change: image, field: 'spec.template.spec' },
  {
    name: 'the node selector of a suspended Job whose pods have not stopped',
    from: suspended,
    status: { startTime: '2026-01-01T00:00:00Z', active: 1 },
    change: nodeSelector,
    field: 'spec.template',
  },
  {
    name: 'the node selector of a Job that was suspended after its start and has stopped its pods',
    from: suspended,
    status: {
      startTime: '2026-01-01T00:00:00Z',
      conditions: [{ type: 'Suspended', status: 'True', lastTransitionTime: null, lastProbeTime: null }],
    },
    change: nodeSelector,
  },
];

describe('an update of a Job', () => {
  for (const { name, from, status, change, field } of updates) {
    test(`${field === undefined ? 'may' : 'may not'} change ${name}`, () => {
      let current = sandbox.create('jobs.batch', job(from));
      if (status !== undefined) current = sandbox.update('jobs.batch', { ...current, status }, 'status');
      const spec = structuredClone(current['spec']) as { template: { spec: object } };
      const { template: changed, ...rest } = change as { template?: { spec: object } };
      Object.assign(spec, rest);
      if (changed !== undefined) Object.assign(spec.template.spec, changed.spec);
      const refused = refusalOf(() => sandbox.update('jobs.batch', { ...current, spec }));
      expect(refused.map((each) => each.split(':')[0])).toEqual(field === undefined ? [] : [field]);
    });
  }
});

const cronJob = (spec: object = {}, name = 'c') => ({
  metadata: { name },
  spec: { schedule: '* * * * *', jobTemplate: { spec: { template } }, ...spec },
});
const cronRefusals = [
  { name: 'no schedule', spec: { schedule: '' }, expected: 'spec.schedule: Required value' },
  {
    name: 'a schedule of four fields',
    spec: { schedule: '* * * *' },
    expected: 'spec.schedule: Invalid value: "* * * *": expected exactly 5 fields, found 4: [* * * *]',
  },
  {
    name: 'a time zone inside of the schedule',
    spec: { schedule: 'TZ=UTC * * * * *' },
    expected:
      'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
  },
  {
    name: 'a time zone that does not exist',
    spec: { timeZone: 'Mars/Olympus' },
    expected: 'spec.timeZone: Invalid value: "Mars/Olympus": unknown time zone Mars/Olympus',
  },
  {
    name: 'the local time zone',
    spec: { timeZone: 'Local' },
    expected:
      'spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
  },
  {
    name: 'an unknown concurrency policy',
    spec: { concurrencyPolicy: 'Queue' },
    expected: 'spec.concurrencyPolicy: Unsupported value: "Queue": supported values: "Allow", "Forbid", "Replace"',
  },
  {
    name: 'a negative starting deadline',
    spec: { startingDeadlineSeconds: -1 },
    expected: 'spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0',
  },
  {
    name: 'a negative history',
    spec: { successfulJobsHistoryLimit: -1 },
    expected: 'spec.successfulJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
  },
  {
    name: 'a selector in the template',
    spec: { jobTemplate: { spec: { template, selector: { matchLabels: { a: 'b' } } } } },
    expected:
      'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
  },
];

describe('a CronJob', () => {
  test('allows concurrency and keeps four Jobs by default', () => {
    expect(sandbox.create('cronjobs.batch', cronJob())['spec']).toMatchObject({
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    });
  });

  for (const { name, spec, expected } of cronRefusals) {
    test(`is refused with ${name}`, () => {
      expect(refusalOf(() => sandbox.create('cronjobs.batch', cronJob(spec)))).toEqual([expected]);
    });
  }

  for (const schedule of ['@hourly', '@every 1h', '*/5 0-6 1,15 * MON-FRI']) {
    test(`accepts the schedule ${schedule}`, () => {
      expect(refusalOf(() => sandbox.create('cronjobs.batch', cronJob({ schedule })))).toEqual([]);
    });
  }

  test('has a name that leaves room for the names of its Jobs', () => {
    const refused = refusalOf(() => sandbox.create('cronjobs.batch', cronJob({}, 'c'.repeat(53))));
    expect(refused[0]).toContain('must be no more than 52 characters');
  });
});
