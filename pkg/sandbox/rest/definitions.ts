import { objectKey, isBeingDeleted, type CustomResourceDefinition, type UntypedObject } from '../../api/index.ts';
import { storageId, type Resource } from '../registry/index.ts';
import { keyIn, type Api } from './api.ts';
import { deleteObject } from './remove.ts';

const storage = 'customresourcedefinitions.apiextensions.k8s.io';
const finalizer = 'customresourcecleanup.apiextensions.k8s.io';

/** Serves the resources of custom resource definitions, and deletes their objects when a definition is deleted. */
export function followDefinitions(api: Api): () => void {
  const listening = new Map<string, () => void>();

  function follow(object: UntypedObject): void {
    const definition = asDefinition(object);
    api.registry.define(definition);
    const { name } = definition.metadata;
    const [resource] = resourcesOf(api, definition);
    if (resource !== undefined && !listening.has(name)) {
      const stop = api.store.listen(storageId(resource), ({ type }) => {
        if (type === 'DELETED') finish(api, name);
      });
      listening.set(name, stop);
    }
    if (!isBeingDeleted(definition.metadata)) return;
    if (resource !== undefined) deleteAll(api, resource);
    finish(api, name);
  }

  for (const { object } of api.store.entries(storage)) follow(object);
  return api.store.listen(storage, ({ type, entry }) => {
    // Not within the write itself: the writes that follow from it are separate, so that listeners observe them in
    // order.
    queueMicrotask(() => {
      const { name } = entry.object.metadata;
      if (type !== 'DELETED') {
        if (api.store.get(storage, keyOfDefinition(name)) !== undefined) follow(entry.object);
        return;
      }
      api.registry.undefine(name);
      listening.get(name)?.();
      listening.delete(name);
    });
  });
}

const keyOfDefinition = (name: string) => objectKey(undefined, name);

function asDefinition(object: UntypedObject): CustomResourceDefinition {
  return object as unknown as CustomResourceDefinition; // objects stored under this name are definitions
}

function resourcesOf(api: Api, { spec }: CustomResourceDefinition): Resource[] {
  return spec.versions.flatMap(({ name }) => api.registry.find(spec.group, name, spec.names.plural) ?? []);
}

function deleteAll(api: Api, resource: Resource): void {
  const entries = [...api.store.entries(storageId(resource))]; // the current list: the deletes below change it
  for (const { object } of entries) {
    if (isBeingDeleted(object.metadata)) continue;
    const key = keyIn(resource, object.metadata.namespace, object.metadata.name);
    deleteObject(api, { resource, key }, {}, { dryRun: false });
  }
}

/** Removes a deleted definition once no object of its kind is left. */
function finish(api: Api, name: string): void {
  const key = keyOfDefinition(name);
  const entry = api.store.get(storage, key);
  if (entry === undefined || !isBeingDeleted(entry.object.metadata)) return;
  const { spec } = asDefinition(entry.object);
  if (api.store.count(`${spec.names.plural}.${spec.group}`) > 0) return;
  const finalizers = (entry.object.metadata.finalizers ?? []).filter((each) => each !== finalizer);
  const { finalizers: _, ...metadata } = entry.object.metadata;
  if (finalizers.length === 0) api.store.remove(storage, key, { ...entry.object, metadata });
  else if (finalizers.length < (entry.object.metadata.finalizers ?? []).length) {
    api.store.put(storage, key, { ...entry.object, metadata: { ...metadata, finalizers } });
  }
}
