import { formatTime, copyOf, ownValue, type CustomResourceDefinition } from '../../api/index.ts';
import type { FieldError } from '../failure.ts';
import { defineRules, immutable, invalidValue, required, unsupported } from './rules.ts';

export const definitionRules = defineRules<CustomResourceDefinition>({
  tracksGeneration: true,
  defaults({ spec }) {
    const { names } = spec;
    names.singular ??= names.kind.toLowerCase();
    names.listKind ??= `${names.kind}List`;
    spec.conversion ??= { strategy: 'None' };
    for (const version of spec.versions ?? []) {
      for (const column of version.additionalPrinterColumns ?? []) if (column.priority === 0) delete column.priority;
    }
  },
  beforeCreate(definition, { nowMs }) {
    const { names, versions } = definition.spec;
    const time = formatTime(nowMs);
    // Keeps the definition while objects of its kind exist.
    definition.metadata.finalizers = [
      ...new Set([...(definition.metadata.finalizers ?? []), 'customresourcecleanup.apiextensions.k8s.io']),
    ];
    // In a cluster, a controller decides this a moment later. Here the outcome is always the same.
    definition.status = {
      conditions: [
        {
          lastTransitionTime: time,
          message: 'no conflicts found',
          reason: 'NoConflicts',
          status: 'True',
          type: 'NamesAccepted',
        },
        {
          lastTransitionTime: time,
          message: 'the initial names have been accepted',
          reason: 'InitialNamesAccepted',
          status: 'True',
          type: 'Established',
        },
      ],
      acceptedNames: names,
      storedVersions: versions.filter(({ storage }) => storage).map(({ name }) => name),
    };
  },
  beforeUpdate(definition, old) {
    const status = copyOf(old.status) ?? {};
    const stored = definition.spec.versions.filter(({ storage }) => storage).map(({ name }) => name);
    status.storedVersions = [...new Set([...(status.storedVersions ?? []), ...stored])];
    status.acceptedNames = definition.spec.names;
    definition.status = status;
  },
  validate: validateDefinition,
  validateUpdate: ({ spec }, { spec: old }) => [
    ...immutable('spec.group', spec.group === old.group, spec.group),
    ...immutable('spec.scope', spec.scope === old.scope, spec.scope),
    ...immutable('spec.names.kind', spec.names.kind === old.names.kind, spec.names.kind),
    ...immutable('spec.names.plural', spec.names.plural === old.names.plural, spec.names.plural),
  ],
});

function validateDefinition({ metadata, spec }: CustomResourceDefinition): FieldError[] {
  const errors: FieldError[] = [];
  const wanted = `${spec.names.plural}.${spec.group}`;
  if (spec.group === '') errors.push(required('spec.group'));
  else if (metadata.name !== wanted) {
    errors.push(invalidValue('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group'));
  }
  if (spec.scope !== 'Cluster' && spec.scope !== 'Namespaced') {
    errors.push(unsupported('spec.scope', spec.scope, ['Cluster', 'Namespaced']));
  }
  if (spec.names.kind === '') errors.push(required('spec.names.kind'));
  const stored = spec.versions.filter(({ storage }) => storage);
  if (stored.length !== 1) {
    errors.push(
      invalidValue('spec.versions', spec.versions, 'must have exactly one version marked as storage version'),
    );
  }
  for (const [index, { schema }] of spec.versions.entries()) {
    const field = `spec.versions[${index}].schema.openAPIV3Schema`;
    if (schema?.openAPIV3Schema === undefined) errors.push(required(field, 'schemas are required'));
  }
  errors.push(...validateApproval(metadata.annotations, spec.group));
  if (spec.conversion?.strategy === 'Webhook') {
    const detail = 'the sandbox calls no webhooks';
    errors.push({ type: 'Forbidden', field: 'spec.conversion.strategy', detail });
  }
  return errors;
}

const approval = 'api-approved.kubernetes.io';

/** API groups of the Kubernetes project need an approval annotation, or one that declares the resource unapproved. */
function validateApproval(annotations: Readonly<Record<string, string>> | undefined, group: string): FieldError[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return [];
  const field = `metadata.annotations[${approval}]`;
  const given = ownValue(annotations, approval) ?? '';
  const rule = `protected groups must have approval annotation "${approval}"`;
  const link = 'see https://github.com/kubernetes/enhancements/pull/1111';
  if (given === '') return [required(field, `${rule}, ${link}`)];
  if (given.startsWith('unapproved') || URL.parse(given) !== null) return [];
  return [invalidValue(field, given, `${rule} with either a URL or a reason starting with "unapproved", ${link}`)];
}
