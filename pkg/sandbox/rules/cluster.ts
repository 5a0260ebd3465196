import {
  setOwn,
  copyOf,
  type ConfigMap,
  type KubeObject,
  type Namespace,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Secret,
} from '../../api/index.ts';
import type { FieldError } from '../failure.ts';
import { labelProblem } from './names.ts';
import { defineRules, immutable, invalidValue } from './rules.ts';

export const namespaceRules = defineRules<Namespace>({
  nameProblem: labelProblem,
  defaults(namespace) {
    namespace.metadata.labels = {
      ...namespace.metadata.labels,
      'kubernetes.io/metadata.name': namespace.metadata.name,
    };
  },
  beforeCreate(namespace) {
    namespace.spec ??= {};
    namespace.spec.finalizers = [...new Set([...(namespace.spec.finalizers ?? []), 'kubernetes'])];
    namespace.status = { phase: 'Active' };
  },
  beforeUpdate(namespace, old) {
    namespace.spec = copyOf(old.spec); // only the finalize subresource takes finalizers away
  },
});

export const nodeRules = defineRules<Node>({
  keepsStatusOnCreate: true,
  beforeCreate({ spec }) {
    // Until a controller has seen that it is ready, no pod is to be placed on it.
    const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
    const isThere = (spec.taints ?? []).some(({ key, effect }) => key === taint.key && effect === taint.effect);
    if (!isThere) spec.taints = [...(spec.taints ?? []), taint];
  },
});

export const secretRules = defineRules<Secret>({
  defaults(secret) {
    secret.type ??= 'Opaque';
    if (secret.stringData === undefined) return;
    secret.data ??= {};
    for (const [name, text] of Object.entries(secret.stringData)) {
      setOwn(secret.data, name, Buffer.from(text).toString('base64'));
    }
    delete secret.stringData;
  },
  validate: ({ data }) => validateKeys(data, 'data'),
  validateUpdate: (secret, old) => [
    ...immutable('type', secret.type === old.type, secret.type),
    ...validateImmutable(secret, old),
  ],
});

export const configMapRules = defineRules<ConfigMap>({
  validate: ({ data, binaryData }) => [...validateKeys(data, 'data'), ...validateKeys(binaryData, 'binaryData')],
  validateUpdate: validateImmutable,
});

const dataKey = /^[-._a-zA-Z0-9]+$/;

function validateKeys(data: Readonly<Record<string, unknown>> = {}, field: string): FieldError[] {
  return Object.keys(data)
    .filter((key) => !dataKey.test(key) || key.length > 253 || key === '.' || key === '..')
    .map((key) => {
      const detail =
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
      return invalidValue(`${field}[${key}]`, key, detail);
    });
}

type Sealed = KubeObject & {
  immutable?: boolean | undefined;
  data?: unknown;
  binaryData?: unknown;
};

function validateImmutable(object: Sealed, old: Sealed): FieldError[] {
  if (old.immutable !== true) return [];
  const errors: FieldError[] = [];
  const detail = 'field is immutable when `immutable` is set';
  if (object.immutable !== true) errors.push({ type: 'Forbidden', field: 'immutable', detail });
  for (const field of ['data', 'binaryData'] as const) {
    const isSame = JSON.stringify(object[field]) === JSON.stringify(old[field]);
    if (!isSame) errors.push({ type: 'Forbidden', field, detail });
  }
  return errors;
}

export const persistentVolumeRules = defineRules<PersistentVolume>({
  returnsDeleted: true,
  defaults({ spec }) {
    spec.persistentVolumeReclaimPolicy ??= 'Retain';
    spec.volumeMode ??= 'Filesystem';
    if (spec.hostPath !== undefined) spec.hostPath.type ??= '';
  },
  beforeCreate(volume) {
    volume.status = { phase: 'Pending' };
    volume.metadata.finalizers ??= ['kubernetes.io/pv-protection'];
  },
});

export const persistentVolumeClaimRules = defineRules<PersistentVolumeClaim>({
  returnsDeleted: true,
  defaults({ spec }) {
    spec.volumeMode ??= 'Filesystem';
  },
  beforeCreate(claim) {
    claim.status = { phase: 'Pending' };
    claim.metadata.finalizers ??= ['kubernetes.io/pvc-protection'];
  },
});
