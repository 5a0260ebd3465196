import type { Item } from '../protocol.ts';

/** An object and what it owns. */
export interface TreeNode {
  readonly item: Item;
  readonly children: readonly TreeNode[];
}

export interface NodeRow {
  readonly item: Item;
  readonly pods: readonly Item[];
}

/** The cluster as it is drawn. What is not changed is the same object as in the forest before, and is not drawn again. */
export interface Forest {
  readonly nodes: readonly NodeRow[];
  readonly workloads: readonly TreeNode[];
  readonly services: readonly TreeNode[];
  readonly loosePods: readonly Item[];
  readonly others: readonly TreeNode[];
  readonly trees: ReadonlyMap<string, TreeNode>;
  readonly rows: ReadonlyMap<string, NodeRow>;
}

const workloadKinds = new Set([
  'Deployment',
  'ReplicaSet',
  'StatefulSet',
  'DaemonSet',
  'CronJob',
  'Job',
  'ReplicationController',
]);

export const emptyForest: Forest = {
  nodes: [],
  workloads: [],
  services: [],
  loosePods: [],
  others: [],
  trees: new Map(),
  rows: new Map(),
};

export function buildForest(items: ReadonlyMap<string, Item>, previous: Forest): Forest {
  const all = [...items.values()];
  const owned = Map.groupBy(all, ({ owner = '' }) => (items.has(owner) ? owner : ''));
  const trees = new Map<string, TreeNode>();
  const growLeaf = (item: Item): TreeNode => {
    const tree = share({ item, children: [] }, previous.trees.get(item.id));
    if (!trees.has(item.id)) trees.set(item.id, tree);
    return tree;
  };
  const grow = (item: Item): TreeNode => {
    const targets = (item.targets ?? []).flatMap((id) => items.get(id) ?? []);
    // Each object has one controller, so that a walk from the roots comes to each object once. Targets are leaves.
    const children = [...(owned.get(item.id) ?? []).map(grow), ...targets.map(growLeaf)];
    const tree = share({ item, children }, previous.trees.get(item.id));
    trees.set(item.id, tree);
    return tree;
  };
  const roots = (owned.get('') ?? []).filter(({ kind }) => kind !== 'Node');
  const isLoose = ({ kind }: Item): boolean => kind === 'Pod';
  const grown = sortByName(roots.filter((item) => !isLoose(item))).map(grow);
  const { nodes, rows } = buildNodes(all, previous);
  return {
    nodes,
    rows,
    trees,
    loosePods: roots.filter(isLoose),
    workloads: grown.filter(({ item }) => workloadKinds.has(item.kind)),
    services: grown.filter(({ item }) => item.kind === 'Service'),
    others: grown.filter(({ item }) => !workloadKinds.has(item.kind) && item.kind !== 'Service'),
  };
}

function buildNodes(all: readonly Item[], previous: Forest): Pick<Forest, 'nodes' | 'rows'> {
  const pods = Map.groupBy(
    all.filter(({ kind }) => kind === 'Pod'),
    ({ node = '' }) => node,
  );
  const nodes = sortByName(all.filter(({ kind }) => kind === 'Node')).map((item): NodeRow => {
    const row = { item, pods: pods.get(item.name) ?? [] };
    const before = previous.rows.get(item.id);
    return before?.item === item && sameElements(before.pods, row.pods) ? before : row;
  });
  return { nodes, rows: new Map(nodes.map((row) => [row.item.id, row])) };
}

function share(tree: TreeNode, before: TreeNode | undefined): TreeNode {
  return before?.item === tree.item && sameElements(before.children, tree.children) ? before : tree;
}

function sameElements<T>(left: readonly T[], right: readonly T[]): boolean {
  return left.length === right.length && left.every((element, index) => element === right[index]);
}

const byText = new Intl.Collator('en', { numeric: true }).compare;

function sortByName(items: readonly Item[]): Item[] {
  return items.toSorted(
    (left, right) => byText(left.namespace ?? '', right.namespace ?? '') || byText(left.name, right.name),
  );
}
