import type * as z from 'zod';

import {
  apiVersionOf,
  CustomResourceDefinitions,
  defineKind,
  type CustomResourceDefinition,
  type Kind,
  type KubeObject,
  type ObjectMeta,
  type Unsaved,
} from '../api/index.ts';
import { checkNames, checkVersion } from './check-resource.ts';
import { structuralSchema, type StructuralSchema } from './structural-schema.ts';

declare const draftType: unique symbol;

/** An object of a custom resource. Fields with a default are always set: the API server fills them in. */
export interface CustomObject<Spec, Status> extends KubeObject {
  spec: Spec;
  /** Absent until it is written. Written in parts, so each field is optional. */
  status?: Partial<Status> | undefined;
}

/** An object to be created: fields with a default may be left out. */
export interface CustomDraft<Spec> {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec: Spec;
}

export type CrdManifest = Unsaved<CustomResourceDefinition>;

/** A kind of which the type of new objects is known. */
export interface Drafted<Draft> {
  readonly [draftType]?: Draft;
}

/** One version of a custom resource: its kind, and the CustomResourceDefinition that the API server needs to serve it. */
export interface ResourceVersion<T extends KubeObject = KubeObject, Draft = Unsaved<T>> extends Kind<T> {
  readonly [draftType]?: Draft;
  readonly crd: CrdManifest;
  /** Another project installs the definition: the manifests of an operator leave it out. Default false. */
  readonly isExternal?: boolean;
}

/** A custom resource in the version that the program uses. */
export interface Resource<
  T extends KubeObject = KubeObject,
  Draft = Unsaved<T>,
  Versions extends Readonly<Record<string, ResourceVersion>> = Readonly<Record<string, ResourceVersion<T>>>,
> extends ResourceVersion<T, Draft> {
  /** Each version of the API that is served, this one included. */
  readonly versions: Versions;
}

/** The body of a create request for a kind. */
export type DraftOf<K extends Kind> = K extends { readonly [draftType]?: infer D }
  ? Exclude<D, undefined>
  : K extends Kind<infer T>
    ? Unsaved<T>
    : never;

export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** Such as `.status.availableReplicas`. */
  readonly jsonPath: string;
  readonly description?: string | undefined;
  /** Columns with a priority above 0 are shown by `kubectl get -o wide` only. */
  readonly priority?: number | undefined;
}

export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string | undefined;
}

interface VersionSpec {
  readonly printerColumns?: readonly PrinterColumn[] | undefined;
  /** Serves the scale subresource: `kubectl scale` and HorizontalPodAutoscalers work. */
  readonly scale?: ScalePaths | undefined;
}

/** Another version of the API. Objects are converted by the API server, which changes apiVersion only. */
export interface OtherVersion extends VersionSpec {
  readonly version: string;
  readonly spec: z.ZodObject;
  readonly status?: z.ZodObject | undefined;
  /** Default true. */
  readonly served?: boolean | undefined;
  /** The warning that clients of this version get. */
  readonly deprecationWarning?: string | undefined;
}

export interface ResourceSpec<
  Spec extends z.ZodObject = z.ZodObject,
  Status extends z.ZodObject = z.ZodObject,
  Version extends string = string,
  Others extends readonly OtherVersion[] = readonly OtherVersion[],
> extends VersionSpec {
  readonly group: string;
  /** The version that is stored and that the program uses, such as `v1alpha1`. */
  readonly version: Version;
  readonly kind: string;
  /** Default: the plural of the kind, in lower case. */
  readonly plural?: string | undefined;
  readonly shortNames?: readonly string[] | undefined;
  readonly categories?: readonly string[] | undefined;
  /** Default `Namespaced`. */
  readonly scope?: 'Namespaced' | 'Cluster' | undefined;
  readonly spec: Spec;
  /** If given, the resource has a status subresource. */
  readonly status?: Status | undefined;
  readonly otherVersions?: Others | undefined;
}

/** The status of a resource that has none. */
type NoFields = Readonly<Record<string, never>>;

type VersionOf<Spec extends z.ZodObject, Status extends z.ZodObject> = ResourceVersion<
  CustomObject<z.output<Spec>, z.output<Status>>,
  CustomDraft<z.input<Spec>>
>;

type OtherStatus<V extends OtherVersion> = V extends { readonly status: infer S extends z.ZodObject }
  ? S
  : z.ZodObject<NoFields>;

/** The versions that are served, by their names. */
export type VersionsOf<
  Spec extends z.ZodObject,
  Status extends z.ZodObject,
  Version extends string,
  Others extends readonly OtherVersion[],
> = { readonly [Name in Version]: VersionOf<Spec, Status> } & {
  readonly [V in Others[number] as V extends { readonly served: false } ? never : V['version']]: VersionOf<
    V['spec'],
    OtherStatus<V>
  >;
};

/**
 * Defines a custom resource by one schema: the type of its objects, its kind for clients and informers, and its
 * CustomResourceDefinition. Throws a `DefinitionError` for what the API server would refuse or could not check, except
 * for mistakes in the rules of `x-kubernetes-validations`, which the API server alone can read.
 */
export function defineResource<
  Spec extends z.ZodObject,
  Status extends z.ZodObject = z.ZodObject<NoFields>,
  const Version extends string = string,
  const Others extends readonly OtherVersion[] = readonly [],
>(
  given: ResourceSpec<Spec, Status, Version, Others>,
): Resource<
  CustomObject<z.output<Spec>, z.output<Status>>,
  CustomDraft<z.input<Spec>>,
  VersionsOf<Spec, Status, Version, Others>
> {
  const { group, version, kind, scope = 'Namespaced' } = given;
  const otherVersions: readonly OtherVersion[] = given.otherVersions ?? [];
  const plural = given.plural ?? pluralOf(kind);
  checkNames(given, plural);
  const crd = manifestOf(given, plural) as unknown as CrdManifest; // the schemas are made here, and the server checks them
  const versionIn = (name: string): ResourceVersion => ({
    ...defineKind({ group, version: name, kind, resource: plural, namespaced: scope === 'Namespaced' }),
    crd,
  });
  const served = otherVersions.filter((each) => each.served !== false).map((each) => each.version);
  const versions = Object.fromEntries([version, ...served].map((name) => [name, versionIn(name)]));
  return { ...versionIn(version), versions } as ReturnType<typeof defineResource<Spec, Status, Version, Others>>; // as its schemas
}

function manifestOf(given: ResourceSpec, plural: string): object {
  const { group, kind, scope = 'Namespaced', otherVersions = [] } = given;
  return {
    apiVersion: apiVersionOf(CustomResourceDefinitions),
    kind: CustomResourceDefinitions.kind,
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        ...(given.shortNames !== undefined && { shortNames: [...given.shortNames] }),
        ...(given.categories !== undefined && { categories: [...given.categories] }),
      },
      versions: [
        { ...versionOf(kind, given), served: true, storage: true },
        ...otherVersions.map((each) => ({
          ...versionOf(kind, each),
          served: each.served !== false,
          storage: false,
        })),
      ],
    },
  };
}

function versionOf(kind: string, given: OtherVersion | ResourceSpec): object {
  const { version, spec, status, printerColumns = [], scale } = given;
  const warning = 'deprecationWarning' in given ? given.deprecationWarning : undefined;
  const path = `${kind}.${version}`;
  const properties: Record<string, StructuralSchema> = {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: structuralSchema(spec, `${path}.spec`),
    ...(status !== undefined && { status: statusSchema(status, `${path}.status`) }),
  };
  checkVersion(kind, given, properties);
  return {
    name: version,
    schema: { openAPIV3Schema: { type: 'object', properties, required: ['spec'] } },
    subresources: { ...(status !== undefined && { status: {} }), ...(scale !== undefined && { scale }) },
    ...(printerColumns.length > 0 && { additionalPrinterColumns: printerColumns }),
    ...(warning !== undefined && { deprecated: true, deprecationWarning: warning }),
  };
}

/** A status is written in parts, so that none of its fields is required. zod's `partial` would drop its metadata. */
function statusSchema(status: z.ZodObject, path: string): StructuralSchema {
  const { required: _, ...schema } = structuralSchema(status, path);
  return schema;
}

/** As `kubectl` users expect it: foos, policies, ingresses. */
function pluralOf(kind: string): string {
  const singular = kind.toLowerCase();
  if (/(s|x|z|ch|sh)$/.test(singular)) return `${singular}es`;
  return /[^aeiou]y$/.test(singular) ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}
