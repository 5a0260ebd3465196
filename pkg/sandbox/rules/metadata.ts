import { isBeingDeleted, type ObjectMeta } from '../../api/index.ts';
import type { FieldError } from '../failure.ts';
import { labelValueProblem, qualifiedNameProblem, subdomainProblem } from './names.ts';
import { invalidValue } from './rules.ts';

const maxAnnotationBytes = 256 * 1024;

/** Validates the metadata of an object of any kind. */
export function validateMetadata(
  metadata: ObjectMeta,
  nameProblem: (name: string) => string | undefined = subdomainProblem,
): FieldError[] {
  const { name = '', generateName = '' } = metadata;
  const problem = name === '' ? undefined : nameProblem(name);
  // A dash at the end is fine: a random suffix follows it.
  const prefixProblem = generateName === '' ? undefined : nameProblem(generateName.replace(/(?<=.)-$/, 'a'));
  return [
    ...(prefixProblem === undefined ? [] : [invalidValue('metadata.generateName', generateName, prefixProblem)]),
    ...(problem === undefined ? [] : [invalidValue('metadata.name', name, problem)]),
    ...validateLabels(metadata.labels, 'metadata.labels'),
    ...validateAnnotations(metadata.annotations),
    ...validateOwners(metadata.ownerReferences),
    ...validateFinalizers(metadata.finalizers),
  ];
}

export function validateLabels(labels: Readonly<Record<string, string>> | undefined, field: string): FieldError[] {
  return Object.entries(labels ?? {}).flatMap(([name, value]) => {
    const nameProblem = qualifiedNameProblem(name);
    const valueProblem = labelValueProblem(value);
    return [
      ...(nameProblem === undefined ? [] : [invalidValue(field, name, nameProblem)]),
      ...(valueProblem === undefined ? [] : [invalidValue(field, value, valueProblem)]),
    ];
  });
}

function validateAnnotations(annotations: Readonly<Record<string, string>> = {}): FieldError[] {
  let bytes = 0;
  const errors: FieldError[] = [];
  for (const [name, value] of Object.entries(annotations)) {
    const problem = qualifiedNameProblem(name.toLowerCase());
    if (problem !== undefined) errors.push(invalidValue('metadata.annotations', name, problem));
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  }
  if (bytes > maxAnnotationBytes) {
    const detail = `may not be more than ${maxAnnotationBytes} bytes`;
    errors.push({ type: 'TooLong', field: 'metadata.annotations', detail });
  }
  return errors;
}

function validateOwners(owners: ObjectMeta['ownerReferences'] = []): FieldError[] {
  const field = 'metadata.ownerReferences';
  const errors = owners.flatMap((owner) => {
    const parts = [
      ['kind', owner.kind, 'must not be empty'],
      ['name', owner.name, 'must not be empty'],
      ['uid', owner.uid, 'must not be empty'],
    ] as const;
    const missing = parts
      .filter(([, value]) => (value ?? '') === '')
      .map(([name, value, why]) => invalidValue(`${field}.${name}`, value ?? '', why));
    if (!/^([^/]*\/)?[^/]+$/.test(owner.apiVersion ?? '')) {
      missing.unshift(invalidValue(`${field}.apiVersion`, owner.apiVersion ?? '', 'version must not be empty'));
    }
    if (owner.apiVersion === 'v1' && owner.kind === 'Event') {
      missing.push(invalidValue(field, owner, '/v1, Kind=Event is disallowed from being an owner'));
    }
    return missing;
  });
  const controllers = owners.filter(({ controller }) => controller === true);
  if (controllers.length > 1) {
    const [first, second] = controllers;
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${first?.kind}/${first?.name} and ${second?.kind}/${second?.name}`;
    errors.push(invalidValue(field, owners, detail));
  }
  return errors;
}

function validateFinalizers(finalizers: readonly string[] = []): FieldError[] {
  const field = 'metadata.finalizers';
  const errors = finalizers.flatMap((finalizer) => {
    const problem = qualifiedNameProblem(finalizer);
    return problem === undefined ? [] : [invalidValue(field, finalizer, problem)];
  });
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(invalidValue(field, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'));
  }
  return errors;
}

/** Validates a change of the metadata of an object of any kind. */
export function validateMetadataUpdate(metadata: ObjectMeta, old: ObjectMeta): FieldError[] {
  const present = new Set(old.finalizers);
  const added = (metadata.finalizers ?? []).filter((finalizer) => !present.has(finalizer));
  if (!isBeingDeleted(old) || added.length === 0) return [];
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((each) => JSON.stringify(each)).join(', ')}}`;
  return [{ type: 'Forbidden', field: 'metadata.finalizers', detail }];
}
