import { ownValue, type Cached, type PersistentVolumeClaim } from '../api/index.ts';
import { amountOf, parseAmount, roundUpAmount, type Amount } from '../quantities/index.ts';
import { classOfClaim } from '../volumes/index.ts';
import { countName, matchesClass, type Evaluator } from './evaluator.ts';
import type { MutableUsage } from './usage.ts';

const one = amountOf(1);
const count = countName('persistentvolumeclaims');
const classSuffix = '.storageclass.storage.k8s.io/';
const names = ['persistentvolumeclaims', 'requests.storage'];

/** Charges claims and their storage, in total and by storage class. */
export const volumeClaimEvaluator: Evaluator<PersistentVolumeClaim> = {
  resource: 'persistentvolumeclaims',
  tracks: (name) =>
    name === count || names.includes(name) || names.some((each) => name.endsWith(`${classSuffix}${each}`)),
  matchesScope: (scope, claim) =>
    scope.scopeName === 'VolumeAttributesClass' && matchesClass(scope, attributesClassesOf(claim)),
  usageOf: (claim) => {
    const usage: MutableUsage = new Map([
      [count, one],
      ['persistentvolumeclaims', one],
    ]);
    const storageClass = classOfClaim(claim);
    if (storageClass !== '') usage.set(`${storageClass}${classSuffix}persistentvolumeclaims`, one);
    const storage = storageOf(claim);
    if (storage === undefined) return usage;
    usage.set('requests.storage', storage);
    if (storageClass !== '') usage.set(`${storageClass}${classSuffix}requests.storage`, storage);
    return usage;
  },
};

/** Whole bytes. While a volume grows, the larger size that is being allocated counts. */
function storageOf({ spec, status }: Cached<PersistentVolumeClaim>): Amount | undefined {
  const requested = amountIn(spec.resources?.requests);
  if (requested === undefined) return undefined;
  const allocated = amountIn(status?.allocatedResources);
  return allocated !== undefined && allocated.nanos > requested.nanos ? allocated : requested;
}

function amountIn(list: Readonly<Record<string, string>> | undefined): Amount | undefined {
  const text = ownValue(list, 'storage');
  const amount = text === undefined ? undefined : parseAmount(text);
  return amount && roundUpAmount(amount);
}

/** The classes that a claim has, had, or is being changed to. */
function attributesClassesOf({ spec, status }: Cached<PersistentVolumeClaim>): string[] {
  const all = [
    spec.volumeAttributesClassName ?? '',
    status?.currentVolumeAttributesClassName ?? '',
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName ?? '',
  ];
  return all.filter((name) => name !== '');
}
