import {
  formatTime,
  isEqualJson,
  objectKey,
  ownValue,
  parseTime,
  type KubeObject,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type StorageClass,
  type VolumeAttributesClass,
} from '../../api/index.ts';
import { nanoValue } from '../../quantities/index.ts';
import { classOfClaim, namedClassOf, requestOf, sizeOf } from '../../volumes/index.ts';
import { forbidden, type FieldError } from '../failure.ts';
import { defineRules, immutable, invalidValue, required, unsupported, type WriteContext } from './rules.ts';

/** The StorageObjectInUseProtection admission plugin. */
function addFinalizer({ metadata }: KubeObject, finalizer: string): void {
  const finalizers = metadata.finalizers ?? [];
  if (!finalizers.includes(finalizer)) metadata.finalizers = [...finalizers, finalizer];
}

/** The parts of a volume's specification that do not say where its data is. */
const plainFields = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
]);

function sourceOf({ spec }: PersistentVolume): object {
  return Object.fromEntries(Object.entries(spec).filter(([field]) => !plainFields.has(field)));
}

export const persistentVolumeRules = defineRules<PersistentVolume>({
  returnsDeleted: true,
  defaults({ spec }) {
    spec.persistentVolumeReclaimPolicy ??= 'Retain';
    spec.volumeMode ??= 'Filesystem';
    if (spec.hostPath !== undefined) spec.hostPath.type ??= '';
  },
  beforeCreate(volume, { nowMs }) {
    volume.status = { phase: 'Pending', lastPhaseTransitionTime: formatTime(nowMs) };
    addFinalizer(volume, 'kubernetes.io/pv-protection');
  },
  beforeStatusUpdate({ status = {} }, { status: old = {} }, { nowMs }) {
    const [givenMs, oldMs] = [parseTime(status.lastPhaseTransitionTime), parseTime(old.lastPhaseTransitionTime)];
    const isSet = givenMs !== undefined && givenMs !== oldMs;
    if (status.phase !== old.phase && !isSet) status.lastPhaseTransitionTime = formatTime(nowMs);
    else if (givenMs === undefined && oldMs !== undefined) status.lastPhaseTransitionTime = formatTime(oldMs);
  },
  validate({ spec }) {
    const isWithoutDriver = spec.volumeAttributesClassName !== undefined && spec.csi === undefined;
    return isWithoutDriver ? [required('spec.csi', 'has to be specified when using volumeAttributesClassName')] : [];
  },
  validateUpdate(volume, old) {
    const errors = immutable('volumeMode', volume.spec.volumeMode === old.spec.volumeMode, volume.spec.volumeMode);
    if (isEqualJson(sourceOf(volume), sourceOf(old))) return errors;
    const detail = 'spec.persistentvolumesource is immutable after creation';
    return [{ type: 'Forbidden', field: 'spec.persistentvolumesource', detail }, ...errors];
  },
});

const isDefault = 'storageclass.kubernetes.io/is-default-class';

/** The DefaultStorageClass admission plugin: the newest of the default classes, the first by name of those. */
function addDefaultClass({ metadata, spec }: PersistentVolumeClaim, context: WriteContext): void {
  if (namedClassOf({ metadata, spec }) !== undefined) return;
  const classes = [...context.list('storageclasses.storage.k8s.io')] as KubeObject[] as StorageClass[];
  const [first] = classes
    .filter((each) => ownValue(each.metadata.annotations, isDefault) === 'true')
    .sort(
      (a, b) =>
        orderOf(b.metadata.creationTimestamp, a.metadata.creationTimestamp) ||
        orderOf(a.metadata.name, b.metadata.name),
    );
  if (first !== undefined) spec.storageClassName = first.metadata.name;
}

function orderOf(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** The specification without what may change: the volume, once; a class, once; and size and attributes of a bound claim. */
function fixedSpec({ spec }: PersistentVolumeClaim, old: PersistentVolumeClaim): object {
  const { volumeName, storageClassName, resources, volumeAttributesClassName, ...others } = spec;
  const isBound = old.status?.phase === 'Bound';
  const { storage: _size, ...requests } = resources?.requests ?? {};
  return {
    ...others,
    ...((old.spec.volumeName ?? '') === '' ? {} : { volumeName }),
    ...(namedClassOf(old) === undefined ? {} : { storageClassName }),
    resources: isBound ? { ...resources, requests } : resources,
    ...(isBound ? {} : { volumeAttributesClassName }),
  };
}

const claimSubject = { group: '', resource: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim' };

/** The PersistentVolumeClaimResize admission plugin. Validation has refused to let a claim grow that is not bound. */
function admitResize(claim: PersistentVolumeClaim, old: PersistentVolumeClaim, context: WriteContext): void {
  if (requestOf(claim) <= requestOf(old)) return;
  const [className, before] = [classOfClaim(claim), classOfClaim(old)];
  const storageClass = context.find('storageclasses.storage.k8s.io', objectKey(undefined, className));
  const isAllowed = (storageClass as StorageClass | undefined)?.allowVolumeExpansion === true;
  if (className !== '' && className === before && isAllowed) return;
  const why =
    'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';
  throw forbidden(claimSubject, claim.metadata.name, why);
}

function validateClaimUpdate(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  const errors: FieldError[] = [];
  if (!isEqualJson(fixedSpec(claim, old), fixedSpec(old, old), { emptyIsAbsent: true })) {
    const detail =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    errors.push({ type: 'Forbidden', field: 'spec', detail });
  }
  const [size, before] = [requestOf(claim), requestOf(old)];
  if (size < before && size <= sizeOf(old.status?.capacity)) {
    const field = 'spec.resources.requests.storage';
    errors.push({ type: 'Forbidden', field, detail: 'field can not be less than status.capacity' });
  }
  return errors;
}

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const volumeModes = ['Block', 'Filesystem'];

export function validateClaimSpec(spec: PersistentVolumeClaim['spec'] = {}, field: string): FieldError[] {
  const modes = spec.accessModes ?? [];
  const modesField = `${field}.accessModes`;
  const errors: FieldError[] = [];
  if (modes.length === 0) errors.push(required(modesField, 'at least 1 access mode is required'));
  for (const mode of modes) if (!accessModes.includes(mode)) errors.push(unsupported(modesField, mode, accessModes));
  const shared = modes.some((mode) => mode !== 'ReadWriteOncePod' && accessModes.includes(mode));
  if (shared && modes.includes('ReadWriteOncePod')) {
    const detail = 'may not use ReadWriteOncePod with other access modes';
    errors.push({ type: 'Forbidden', field: modesField, detail });
  }
  const storage = ownValue(spec.resources?.requests, 'storage');
  const storageField = `${field}.resources[storage]`;
  if (storage === undefined) errors.push(required(storageField));
  else if ((nanoValue(storage) ?? 0n) <= 0n) {
    errors.push(invalidValue(storageField, storage, 'must be greater than zero'));
  }
  const { volumeMode } = spec;
  if (volumeMode !== undefined && !volumeModes.includes(volumeMode)) {
    errors.push(unsupported(`${field}.volumeMode`, volumeMode, volumeModes));
  }
  return errors;
}

export const persistentVolumeClaimRules = defineRules<PersistentVolumeClaim>({
  returnsDeleted: true,
  defaults({ spec }) {
    spec.volumeMode ??= 'Filesystem';
  },
  beforeCreate(claim, context) {
    claim.status = { phase: 'Pending' };
    addDefaultClass(claim, context);
    addFinalizer(claim, 'kubernetes.io/pvc-protection');
  },
  validateUpdate: validateClaimUpdate,
  admitUpdate: admitResize,
});

export const volumeAttributesClassRules = defineRules<VolumeAttributesClass>({
  returnsDeleted: true,
  beforeCreate(attributesClass) {
    addFinalizer(attributesClass, 'kubernetes.io/vac-protection');
  },
  validateUpdate(attributesClass, old) {
    return (['driverName', 'parameters'] as const)
      .filter((field) => !isEqualJson(attributesClass[field], old[field]))
      .map((field) => ({ type: 'Forbidden', field, detail: `updates to ${field} are forbidden.` }));
  },
});
