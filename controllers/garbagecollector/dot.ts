import type { DebugPage } from '../../pkg/controller/index.ts';
import type { GraphNode } from './graph-node.ts';
import type { Reference } from './identity.ts';

/** The part of the graph that is needed to draw it. */
export interface DrawnGraph {
  readonly nodes: Iterable<GraphNode>;
  get(uid: string): GraphNode | undefined;
}

export function graphPage(graph: DrawnGraph): DebugPage {
  return { contentType: 'text/vnd.graphviz', parts: (query) => drawGraph(graph, query.getAll('uid')) };
}

/**
 * The graph in Graphviz format, in parts of one object with its edges to its owners. Objects without owners and
 * dependents are omitted. With uids, only objects connected to these are drawn.
 */
export function* drawGraph(graph: DrawnGraph, uids: readonly string[]): Generator<string> {
  yield 'strict digraph full {\n';
  for (const node of uids.length === 0 ? graph.nodes : connectedTo(graph, uids)) {
    if (node.owners.length === 0 && node.dependents.size === 0) continue;
    yield drawNode(node) + node.owners.map((owner) => drawArrow(node, owner, graph)).join('');
  }
  yield '}\n';
}

function connectedTo(graph: DrawnGraph, uids: readonly string[]): ReadonlySet<GraphNode> {
  const found = new Set<GraphNode>();
  const add = (node: GraphNode | undefined): void => void (node !== undefined && found.add(node));
  for (const uid of uids) add(graph.get(uid));
  for (const node of found) {
    for (const { uid } of node.owners) add(graph.get(uid)); // the loop over a set includes elements added meanwhile
    for (const dependent of node.dependents) add(dependent);
  }
  return found;
}

function drawArrow({ uid }: GraphNode, owner: Reference, graph: DrawnGraph): string {
  const missing = graph.get(owner.uid) === undefined ? drawVertex({ ...owner, namespace: '' }, ['missing']) : '';
  return `${missing}  ${quote(uid)} -> ${quote(owner.uid)};\n`;
}

function drawNode(node: GraphNode): string {
  const { apiVersion, kind, namespace, name, uid, phase, isObserved } = node;
  const states: State[] = [];
  if (phase !== 'none') states.push('beingDeleted');
  if (phase === 'deletingDependents') states.push('deletingDependents');
  if (!isObserved) states.push('virtual');
  return drawVertex({ apiVersion, kind, namespace, name, uid }, states);
}

const allStates = ['missing', 'beingDeleted', 'deletingDependents', 'virtual'] as const;
type State = (typeof allStates)[number];

interface Vertex extends Omit<Reference, 'blocks'> {
  readonly namespace: string;
}

function drawVertex({ apiVersion, kind, namespace, name, uid }: Vertex, states: readonly State[]): string {
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  const type = [kind, version, group].filter((part) => part !== '').join('.');
  const label = [`uid=${uid}`, `namespace=${namespace}`, `${type}/${name}`, states.join(',')];
  const attributes = {
    label: `${label.filter((line) => line !== '').join('\n')}\n`,
    group,
    version,
    kind,
    namespace,
    name,
    uid,
    ...Object.fromEntries(allStates.map((state) => [state, String(states.includes(state))])),
  };
  const lines = Object.entries(attributes).map(([key, value]) => `    ${key}=${quote(value)}\n`);
  return `  ${quote(uid)} [\n${lines.join('')}  ];\n`;
}

/** For names and uids, JSON and Graphviz use the same quoting. */
function quote(text: string): string {
  return JSON.stringify(text);
}
