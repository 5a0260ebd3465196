import { formatTime, copyOf, type CustomResourceDefinition } from '../../api/index.ts';
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
    // Keeps the definition while there are objects of its kind.
    definition.metadata.finalizers = [
      ...new Set([...(definition.metadata.finalizers ?? []), 'customresourcecleanup.apiextensions.k8s.io']),
    ];
    // A controller of the real server decides this a moment later; here nothing else could come of it.
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
  if (spec.conversion?.strategy === 'Webhook') {
    const detail = 'the sandbox calls no webhooks';
    errors.push({ type: 'Forbidden', field: 'spec.conversion.strategy', detail });
  }
  return errors;
}
