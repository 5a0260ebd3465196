import {
  isBeingDeleted,
  objectKey,
  ownValue,
  type Cached,
  type ObjectKey,
  type ObjectReference,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type StorageClass,
} from '../api/index.ts';
import { nanoValue } from '../quantities/index.ts';

export type Volume = Cached<PersistentVolume>;
export type Claim = Cached<PersistentVolumeClaim>;
export type Class = Cached<StorageClass>;
export type ClaimReference = NonNullable<Volume['spec']['claimRef']>;

const betaStorageClass = 'volume.beta.kubernetes.io/storage-class';
const nanosPerUnit = 1_000_000_000n;

export function hasAnnotation({ metadata }: Claim | Volume | Class, name: string): boolean {
  return annotationOf({ metadata }, name) !== undefined;
}

export function annotationOf({ metadata }: Pick<Claim | Volume | Class, 'metadata'>, name: string): string | undefined {
  return ownValue(metadata.annotations, name);
}

/** The class that a claim names; undefined if it names none. An empty name means volumes without class. */
export function namedClassOf(claim: Claim): string | undefined {
  return annotationOf(claim, betaStorageClass) ?? claim.spec.storageClassName;
}

export function classOfClaim(claim: Claim): string {
  return namedClassOf(claim) ?? '';
}

export function classOfVolume(volume: Volume): string {
  return annotationOf(volume, betaStorageClass) ?? volume.spec.storageClassName ?? '';
}

export function attributesClassOf({ spec }: Claim | Volume): string {
  return spec.volumeAttributesClassName ?? '';
}

/** The API sets the mode. An older one may not have. */
export function modeOf({ spec }: Claim | Volume): string {
  return spec.volumeMode ?? 'Filesystem';
}

/** What a claim asks for, or what a volume has, in billionths of a byte: quantities are compared exactly. */
export function sizeOf(resources: Readonly<Record<string, string>> | undefined): bigint {
  return nanoValue(ownValue(resources, 'storage') ?? '0') ?? 0n;
}

/** Whole bytes, rounded up. */
export function bytesOf(resources: Readonly<Record<string, string>> | undefined): bigint {
  return (sizeOf(resources) + nanosPerUnit - 1n) / nanosPerUnit;
}

export function requestOf({ spec }: Claim): bigint {
  return sizeOf(spec.resources?.requests);
}

export function keyOfReference({ namespace, name }: ClaimReference): ObjectKey {
  return objectKey(namespace, name ?? '');
}

/** Whether the volume is reserved for, or bound to, this very claim. A reservation by a user names no uid. */
export function isReservedFor({ spec: { claimRef } }: Volume, { metadata }: Claim): boolean {
  if (claimRef === undefined || claimRef.name !== metadata.name || claimRef.namespace !== metadata.namespace)
    return false;
  return (claimRef.uid ?? '') === '' || claimRef.uid === metadata.uid;
}

export function referenceTo({ metadata }: Claim): ObjectReference {
  const { name, namespace, uid, resourceVersion } = metadata;
  return { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion };
}

/** The scheduler selects a node first. Until then only a volume that is reserved for the claim may be bound. */
export function isDelayed(storageClass: Class | undefined): boolean {
  return storageClass?.volumeBindingMode === 'WaitForFirstConsumer';
}

/**
 * Why a volume cannot serve a claim that asks for it by name; undefined if it can. Neither the labels nor the node affinity
 * of the volume count.
 */
export function mismatchOf(volume: Volume, claim: Claim, { attributesClasses }: MatchOptions): string | undefined {
  if (isBeingDeleted(volume.metadata)) return `the volume is marked for deletion "${volume.metadata.name}"`;
  if (bytesOf(volume.spec.capacity) < bytesOf(claim.spec.resources?.requests)) return 'requested PV is too small';
  if (classOfVolume(volume) !== classOfClaim(claim)) return 'storageClassName does not match';
  const [requested, offered] = [attributesClassOf(claim), attributesClassOf(volume)];
  if (!attributesClasses && (requested !== '' || offered !== '')) {
    return 'volumeAttributesClassName is not supported when the feature-gate VolumeAttributesClass is disabled';
  }
  if (requested !== offered) return 'volumeAttributesClassName does not match';
  if (modeOf(volume) !== modeOf(claim)) return 'incompatible volumeMode';
  return isSuperset(volume, claim) ? undefined : 'incompatible accessMode';
}

export interface MatchOptions {
  /** The gate VolumeAttributesClass. */
  readonly attributesClasses: boolean;
}

function isSuperset(volume: Volume, claim: Claim): boolean {
  const offered = new Set(volume.spec.accessModes);
  return (claim.spec.accessModes ?? []).every((mode) => offered.has(mode));
}
