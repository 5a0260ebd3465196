import { isBeingDeleted, type ObjectMeta } from '../../api/index.ts';
import type { FieldError } from '../failure.ts';
import { labelValueProblem, qualifiedNameProblem, subdomainProblem } from './names.ts';
import { invalidValue } from './rules.ts';

const maxAnnotationBytes = 256 * 1024;

/** What holds for the metadata of every kind. */
export function validateMetadata(
  metadata: ObjectMeta,
  nameProblem: (name: string) => string | undefined = subdomainProblem,
): FieldError[] {
  const { name = '' } = metadata;
  const problem = name === '' ? undefined : nameProblem(name);
  return [
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
    bytes += name.length + value.length;
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
      ['apiVersion', owner.apiVersion, 'version must not be empty'],
      ['kind', owner.kind, 'must not be empty'],
      ['name', owner.name, 'must not be empty'],
      ['uid', owner.uid, 'must not be empty'],
    ] as const;
    return parts
      .filter(([, value]) => (value ?? '') === '')
      .map(([name, value, why]) => invalidValue(`${field}.${name}`, value ?? '', why));
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
  return finalizers.flatMap((finalizer) => {
    const problem = qualifiedNameProblem(finalizer);
    return problem === undefined ? [] : [invalidValue('metadata.finalizers', finalizer, problem)];
  });
}

/** What no update may change, whatever the kind. */
export function validateMetadataUpdate(metadata: ObjectMeta, old: ObjectMeta): FieldError[] {
  const present = new Set(old.finalizers);
  const added = (metadata.finalizers ?? []).filter((finalizer) => !present.has(finalizer));
  if (!isBeingDeleted(old) || added.length === 0) return [];
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((each) => JSON.stringify(each)).join(', ')}}`;
  return [{ type: 'Forbidden', field: 'metadata.finalizers', detail }];
}
