import { objectKey, ownValue, copyOf, type Pod, type ServiceAccount } from '../../api/index.ts';
import { forbidden } from '../failure.ts';
import { containersOf, defaultPod, defaultPodSpec } from '../../pods/index.ts';
import { validatePodUpdate } from './pod-updates.ts';
import { validatePodSpec } from './pod-validation.ts';
import { defineRules, type WriteContext } from './rules.ts';

const subject = { group: '', resource: 'pods', kind: 'Pod' };
const tokenMountPath = '/var/run/secrets/kubernetes.io/serviceaccount';

export const podRules = defineRules<Pod>({
  tracksGeneration: true,
  returnsDeleted: true,
  defaults: defaultPod,
  beforeCreate(pod, context) {
    admitServiceAccount(pod, context);
    admitPriority(pod, context);
    admitTolerations(pod);
    pod.status = { phase: 'Pending', qosClass: qosClassOf(pod) };
    const gated = (pod.spec.schedulingGates ?? []).length > 0;
    if (gated) {
      const message = 'Scheduling is blocked due to non-empty scheduling gates';
      pod.status.conditions = [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated', message }];
    }
  },
  beforeStatusUpdate(pod, old) {
    pod.metadata.ownerReferences = old.metadata.ownerReferences;
    if (pod.status !== undefined) pod.status.qosClass ??= old.status?.qosClass;
  },
  validate: ({ spec }) => validatePodSpec(spec, 'spec'),
  validateUpdate: validatePodUpdate,
});

/** The ServiceAccount admission plugin: sets the account, and mounts a token of it. */
function admitServiceAccount(pod: Pod, context: WriteContext): void {
  const { spec, metadata } = pod;
  spec.serviceAccountName ??= 'default';
  spec.serviceAccount = spec.serviceAccountName;
  const key = objectKey(metadata.namespace, spec.serviceAccountName);
  const account = context.find('serviceaccounts', key) as ServiceAccount | undefined;
  if (account === undefined) {
    const why = `error looking up service account ${key}: serviceaccount "${spec.serviceAccountName}" not found`;
    throw forbidden(subject, metadata.name, why);
  }
  if (spec.imagePullSecrets === undefined && account.imagePullSecrets !== undefined) {
    spec.imagePullSecrets = copyOf(account.imagePullSecrets);
  }
  const wantsToken = spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
  if (wantsToken) mountToken(pod, context);
}

function mountToken({ spec }: Pod, context: WriteContext): void {
  const containers = containersOf(spec).filter(
    ({ volumeMounts = [] }) => !volumeMounts.some(({ mountPath }) => mountPath === tokenMountPath),
  );
  if (containers.length === 0) return;
  const name = `kube-api-access-${randomSuffix(context.random)}`;
  for (const container of containers) {
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath: tokenMountPath }];
  }
  const sources = [
    { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] },
    },
  ];
  spec.volumes = [...(spec.volumes ?? []), { name, projected: { sources, defaultMode: 0o644 } }];
}

/** The alphabet of generated names. It has no vowels, so that no words are generated. */
const letters = 'bcdfghjklmnpqrstvwxz2456789';

export function randomSuffix(random: () => number): string {
  let suffix = '';
  for (let index = 0; index < 5; index++) suffix += letters[Math.floor(random() * letters.length)];
  return suffix;
}

const systemPriorities: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

function admitPriority({ spec, metadata }: Pod, context: WriteContext): void {
  const name = spec.priorityClassName;
  if (name === undefined) {
    spec.priority ??= 0;
    spec.preemptionPolicy ??= 'PreemptLowerPriority';
    return;
  }
  const found = context.find('priorityclasses.scheduling.k8s.io', objectKey(undefined, name));
  const value = found?.['value'] ?? ownValue(systemPriorities, name);
  if (typeof value !== 'number') {
    throw forbidden(subject, metadata.name, `no PriorityClass with name ${name} was found`);
  }
  spec.priority = value;
  const policy = found?.['preemptionPolicy'];
  spec.preemptionPolicy ??= typeof policy === 'string' ? policy : 'PreemptLowerPriority';
}

/** The DefaultTolerationSeconds admission plugin: five minutes on a node that is not ready or unreachable. */
function admitTolerations({ spec }: Pod): void {
  for (const condition of ['not-ready', 'unreachable']) {
    const key = `node.kubernetes.io/${condition}`;
    const isCovered = (spec.tolerations ?? []).some(
      (toleration) =>
        ((toleration.key ?? '') === '' || toleration.key === key) &&
        ((toleration.effect ?? '') === '' || toleration.effect === 'NoExecute'),
    );
    if (isCovered) continue;
    const toleration = { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 };
    spec.tolerations = [...(spec.tolerations ?? []), toleration];
  }
}

function qosClassOf({ spec }: Pod): string {
  const containers = containersOf(spec);
  const names = ['cpu', 'memory'];
  const isUnlimited = containers.every(({ resources }) =>
    names.every(
      (name) => ownValue(resources?.requests, name) === undefined && ownValue(resources?.limits, name) === undefined,
    ),
  );
  if (isUnlimited) return 'BestEffort';
  const isGuaranteed = containers.every(({ resources }) =>
    names.every((name) => {
      const limit = ownValue(resources?.limits, name);
      return limit !== undefined && (ownValue(resources?.requests, name) ?? limit) === limit;
    }),
  );
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

export const podTemplateRules = defineRules<Pod & { template: { spec: Pod['spec'] } }>({
  defaults: ({ template }) => defaultPodSpec(template.spec),
});
