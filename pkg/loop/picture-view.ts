import { isEqualJson, Namespaces, resourceName, type Cached, type KubeObject } from '../api/index.ts';
import type { CacheInspection, InformerFactory } from '../../informers/index.ts';
import { isShown, shownKinds, type ShownKind } from './items.ts';
import type { Changes, Filter, Item, Picture } from './protocol.ts';

/** More would be slow to draw, and too many to see. */
const mostItems = 3000;

/** The caches of this process. */
export interface Caches {
  find: InformerFactory['find'];
  inspect(): readonly CacheInspection[];
}

interface SentItem {
  readonly object: Cached<KubeObject>;
  readonly item: Item;
}

interface SentKind {
  readonly items: ReadonlyMap<string, SentItem>;
  /** How many match the filter. */
  readonly total: number;
  readonly changedAtMs: number | undefined;
}

const nothingSent: SentKind = { items: new Map(), total: 0, changedAtMs: undefined };

/**
 * What one browser has been sent. Each update compares the caches with it, so a browser that was slow gets what has changed
 * meanwhile, once. A cache without events since the last update is not looked through.
 */
export class PictureView {
  readonly #filter: Filter;
  readonly #sent = new Map<string, SentKind>();
  #isFresh = true;
  #namespaces: readonly string[] = [];
  #total = 0;

  constructor(filter: Filter) {
    this.#filter = filter;
  }

  /** The whole picture at first, then the changes; undefined if there are none. */
  update(caches: Caches): { readonly picture: Picture } | { readonly changes: Changes } | undefined {
    const changedAt = new Map(
      caches
        .inspect()
        .flatMap(({ kind, changedAtMs }) => (kind.metadataOnly ? [] : [[resourceName(kind), changedAtMs]])),
    );
    const changed: Item[] = [];
    const removed: string[] = [];
    for (const shown of shownKinds) {
      const resource = resourceName(shown.kind);
      const before = this.#sent.get(resource) ?? nothingSent;
      const changedAtMs = changedAt.get(resource);
      if (changedAtMs !== undefined && changedAtMs === before.changedAtMs) continue;
      const after = this.#read(shown, caches, before, changedAtMs);
      this.#sent.set(resource, after);
      changed.push(...changedItems(before, after));
      removed.push(...before.items.keys().filter((id) => !after.items.has(id)));
    }
    const namespaces = namespacesOf(caches);
    const total = this.#sent.values().reduce((sum, kind) => sum + kind.total, 0);
    const hasChanges = changed.length > 0 || removed.length > 0 || total !== this.#total;
    const isSame = !hasChanges && isEqualJson(namespaces, this.#namespaces);
    this.#namespaces = namespaces;
    this.#total = total;
    if (this.#isFresh) {
      this.#isFresh = false;
      return { picture: { items: changed, total, namespaces, kinds: shownKinds.map(({ kind }) => kind.kind) } };
    }
    return isSame ? undefined : { changes: { changed, removed, total, namespaces } };
  }

  #read(shown: ShownKind, caches: Caches, before: SentKind, changedAtMs: number | undefined): SentKind {
    const { kind, toItem } = shown;
    const others = this.#sent.values().reduce((sum, { items }) => sum + items.size, -before.items.size);
    // All objects: the index by namespace would cost memory and time for as long as the process runs.
    const objects = caches.find(kind)?.store.list() ?? [];
    const items = new Map<string, SentItem>();
    let total = 0;
    for (const object of objects) {
      if (!isShown(kind, object, this.#filter)) continue;
      total += 1;
      if (items.size + others >= mostItems) continue;
      const known = before.items.get(object.metadata.uid);
      items.set(object.metadata.uid, known?.object === object ? known : sentItem(object, toItem(object), known));
    }
    return { items, total, changedAtMs };
  }
}

/** Most changes of an object, such as a heartbeat, do not change its item. */
function sentItem(object: Cached<KubeObject>, item: Item, known: SentItem | undefined): SentItem {
  return { object, item: known !== undefined && isEqualJson(known.item, item) ? known.item : item };
}

function changedItems(before: SentKind, after: SentKind): Item[] {
  const items = [...after.items].map(([id, { item }]) => ({ id, item }));
  return items.filter(({ id, item }) => before.items.get(id)?.item !== item).map(({ item }) => item);
}

function namespacesOf(caches: Caches): readonly string[] {
  const namespaces = caches.find(Namespaces)?.store.list() ?? [];
  return namespaces.map(({ metadata }) => metadata.name).toSorted();
}
