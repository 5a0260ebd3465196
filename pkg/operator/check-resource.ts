import { DefinitionError } from './definition-error.ts';
import type { OtherVersion, ResourceSpec } from './resource.ts';
import type { StructuralSchema } from './structural-schema.ts';

type Refuse = (what: string) => never;

/** Refuses names that the API server would refuse. */
export function checkNames(given: ResourceSpec, plural: string): void {
  const { group, version, kind, otherVersions = [], shortNames = [], categories = [] } = given;
  const refuse = refusalOf(kind);
  // The kind of lists is longer by 4 letters, and is a label, too.
  if (!/^[A-Z][A-Za-z0-9]{0,58}$/.test(kind)) refuse('a kind is a word in CamelCase of at most 59 letters');
  if (group.length > 253 || !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(group)) {
    refuse(`the group ${JSON.stringify(group)} must be a domain such as example.com`);
  }
  if (/(^|\.)(k8s|kubernetes)\.io$/.test(group)) {
    refuse(`the group ${group} belongs to the Kubernetes project, whose definitions need an approval`);
  }
  if (!isLabel(plural)) refuse(`${JSON.stringify(plural)} cannot be a plural`);
  if (`${plural}.${group}`.length > 253) refuse('plural and group have more than 253 letters together');
  for (const each of shortNames) if (!isLabel(each)) refuse(`${JSON.stringify(each)} cannot be a short name`);
  for (const each of categories) if (!isLabel(each)) refuse(`${JSON.stringify(each)} cannot be a category`);
  const versions = [version, ...otherVersions.map((each) => each.version)];
  for (const each of versions) {
    if (!/^v[0-9]+((alpha|beta)[0-9]+)?$/.test(each) || !isLabel(each))
      refuse(`${JSON.stringify(each)} is not a version such as v1alpha1`);
  }
  if (new Set(versions).size < versions.length) refuse('a version is given twice');
}

/** Refuses columns, scale paths and warnings that the API server would refuse, or that would never have a value. */
export function checkVersion(
  kind: string,
  given: OtherVersion | ResourceSpec,
  properties: Readonly<Record<string, StructuralSchema>>,
): void {
  const { version, printerColumns = [], scale } = given;
  const refuse = refusalOf(`${kind}.${version}`);
  for (const { name, type, jsonPath } of printerColumns) {
    if (name === '') refuse('a printer column has no name');
    if (!columnTypes.has(type)) refuse(`the printer column ${name} cannot have the type ${type}`);
    if (!/^\.[^{}]+$/.test(jsonPath)) refuse(`the path of the printer column ${name} must be such as .status.replicas`);
  }
  for (const [name, path] of Object.entries(scale ?? {}) as [keyof typeof places, string | undefined][]) {
    if (path === undefined) continue;
    const fields = path.split('.').slice(1);
    if (!path.startsWith('.') || fields.length < 2 || !places[name].some((each) => each === fields[0])) {
      refuse(`${name} must be a path in ${places[name].join(' or ')}, such as .${places[name].at(-1)}.replicas`);
    }
    if (!hasField({ properties }, fields)) refuse(`${name}: there is no field ${path}`);
  }
  const warning = 'deprecationWarning' in given ? given.deprecationWarning : undefined;
  if (warning !== undefined && !/^[^\p{C}\p{Zl}\p{Zp}]{1,256}$/u.test(warning)) {
    refuse('a deprecation warning is one line of at most 256 letters');
  }
}

const columnTypes = new Set(['string', 'integer', 'number', 'boolean', 'date']);

/** The fields below which each path of the scale subresource may be. */
const places = {
  specReplicasPath: ['spec'],
  statusReplicasPath: ['status'],
  labelSelectorPath: ['spec', 'status'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

function hasField(schema: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true;
  const { properties, ...others } = (schema ?? {}) as StructuralSchema; // made by this program
  if (others['x-kubernetes-preserve-unknown-fields'] === true || others['additionalProperties'] !== undefined)
    return true;
  const field = Object.entries(properties ?? {}).find(([key]) => key === name)?.[1];
  return field !== undefined && hasField(field, rest);
}

/** RFC 1035, which the API server demands of names in paths. */
function isLabel(name: string): boolean {
  return /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name);
}

function refusalOf(where: string): Refuse {
  return (what) => {
    throw new DefinitionError(`defineResource ${where}: ${what}`);
  };
}
