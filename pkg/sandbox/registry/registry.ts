import { DefectError } from '../failure.ts';
import type { CustomResourceDefinition } from '../../api/index.ts';
import { builtInResources } from './built-in.ts';
import { customResources } from './custom.ts';
import { apiVersionOf, type Resource } from './resource.ts';

/** The resources that are served now: built-in ones and those of custom resource definitions. */
export class Registry {
  readonly #byPath = new Map<string, Resource>();
  readonly #byKind = new Map<string, Resource>();
  readonly #defined = new Map<string, readonly Resource[]>();

  constructor() {
    for (const resource of builtInResources) this.#add(resource);
  }

  find(group: string, version: string, resource: string): Resource | undefined {
    return this.#byPath.get(`${group}/${version}/${resource}`);
  }

  /** Throws if the sandbox itself asks for a resource that does not exist. */
  get(group: string, version: string, resource: string): Resource {
    const found = this.find(group, version, resource);
    if (found === undefined) throw new DefectError(`no resource ${resource} in ${group}/${version}`);
    return found;
  }

  byKind(apiVersion: string, kind: string): Resource | undefined {
    return this.#byKind.get(`${apiVersion}/${kind}`);
  }

  /** Every resource, group by group. */
  all(): Resource[] {
    return [...this.#byPath.values()];
  }

  /** Serves the resources of a definition, in place of those that it defined before. */
  define(definition: CustomResourceDefinition): void {
    this.undefine(definition.metadata.name);
    const resources = customResources(definition);
    this.#defined.set(definition.metadata.name, resources);
    for (const resource of resources) this.#add(resource);
  }

  undefine(name: string): void {
    for (const resource of this.#defined.get(name) ?? []) {
      this.#byPath.delete(`${resource.group}/${resource.version}/${resource.resource}`);
      this.#byKind.delete(`${apiVersionOf(resource)}/${resource.kind}`);
    }
    this.#defined.delete(name);
  }

  #add(resource: Resource): void {
    this.#byPath.set(`${resource.group}/${resource.version}/${resource.resource}`, resource);
    this.#byKind.set(`${apiVersionOf(resource)}/${resource.kind}`, resource);
  }
}
