import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import type { Filter, Item, TryAction } from '../protocol.ts';
import { Filters } from './filters.tsx';
import { memo } from './memo.tsx';
import { Mark } from './parts.tsx';
import { handlePods, Pods } from './pods.tsx';
import { hrefOfObject } from './route.ts';
import type { ClusterPicture } from './stream.ts';
import type { NodeRow, TreeNode } from './tree.ts';
import { Tries } from './tries.tsx';
import { formatCount, plural } from './words.ts';

interface ClusterProps {
  readonly cluster: ClusterPicture | undefined;
  readonly filter: Filter;
  readonly tries: readonly TryAction[];
}

export function Cluster({ cluster, filter, tries }: ClusterProps): VNode {
  const section = useRef<HTMLDivElement>(null);
  useEffect(() => (section.current === null ? undefined : handlePods(section.current)), []);
  return (
    <div ref={section}>
      <div class="view-head">
        <h1 tabIndex={-1}>Cluster</h1>
        {cluster !== undefined && <p class="muted">{countOf(cluster)}</p>}
        <Filters filter={filter} namespaces={cluster?.namespaces ?? []} kinds={cluster?.kinds ?? []} />
      </div>
      <Tries actions={tries.filter(({ resources }) => resources.length === 0)} object={undefined} />
      {cluster === undefined ? <p class="empty">Waiting for the first picture…</p> : <Sections cluster={cluster} />}
    </div>
  );
}

function countOf({ shown, total }: ClusterPicture): string {
  return total > shown
    ? `${formatCount(shown)} of ${formatCount(total)} objects shown. A filter shows others.`
    : plural(shown, 'object');
}

/** Above this number of objects, changes are not animated: hundreds of animations at once take longer than a frame. */
const mostAnimated = 300;

function Sections({ cluster }: { cluster: ClusterPicture }): VNode {
  const { nodes, workloads, services, loosePods, others } = cluster.forest;
  if (cluster.shown === 0) return <p class="empty">No object matches the filter.</p>;
  return (
    <div class={cluster.shown > mostAnimated ? 'calm' : undefined}>
      {nodes.length > 0 && (
        <Section title="Nodes" count={nodes.length}>
          <ul class={nodes.length > 12 ? 'nodes many' : 'nodes'}>
            {nodes.map((row) => (
              <NodeCard key={row.item.id} row={row} />
            ))}
          </ul>
        </Section>
      )}
      <Trees title="Workloads" trees={workloads} />
      {loosePods.length > 0 && (
        <Section title="Pods without an owner" count={loosePods.length}>
          <Pods pods={loosePods} ownerName="" />
        </Section>
      )}
      <Trees title="Services" trees={services} />
      <Trees title="Other objects" trees={others} />
    </div>
  );
}

function Section({ title, count, children }: { title: string; count: number; children: VNode | null }): VNode {
  return (
    <section aria-label={title}>
      <h2>
        {title} <span class="count">{formatCount(count)}</span>
      </h2>
      {children}
    </section>
  );
}

function Trees({ title, trees }: { title: string; trees: readonly TreeNode[] }): VNode | null {
  if (trees.length === 0) return null;
  return (
    <Section title={title} count={trees.length}>
      <ul class="trees">
        {trees.map((tree) => (
          <Root key={tree.item.id} tree={tree} />
        ))}
      </ul>
    </Section>
  );
}

const NodeCard = memo(({ row: { item, pods } }: { row: NodeRow }): VNode => (
  <li class={`card node ${item.state}`}>
    <div class="line">
      <Mark state={item.state} />
      <a class="name" href={hrefOfObject(item)}>
        {item.name}
      </a>
      <span class="text">
        {item.text}, {plural(pods.length, 'pod')}
      </span>
    </div>
    <div class="dots" aria-hidden="true">
      {pods.map((pod) => (
        <NodePod key={pod.id} pod={pod} />
      ))}
    </div>
  </li>
));

const NodePod = memo(({ pod }: { pod: Item }): VNode => (
  <span class="dot" data-pod={pod.id} title={`${pod.name}: ${pod.text}`}>
    <Mark state={pod.state} />
  </span>
));

/** From this number of pods on, an owner takes the whole width. */
const manyPods = 16;

const Root = memo(({ tree }: { tree: TreeNode }): VNode => (
  <li class={countPods(tree) >= manyPods ? 'card tree wide' : 'card tree'}>
    <Branch tree={tree} isRoot />
  </li>
));

function countPods({ item, children }: TreeNode): number {
  return item.kind === 'Pod' ? 1 : children.reduce((sum, child) => sum + countPods(child), 0);
}

interface BranchProps {
  readonly tree: TreeNode;
  readonly isRoot: boolean;
}

const Branch = memo(({ tree: { item, children }, isRoot }: BranchProps): VNode => {
  const pods = children.filter((child) => child.item.kind === 'Pod').map((child) => child.item);
  const branches = children.filter((child) => child.item.kind !== 'Pod');
  const folded = branches.filter(isEmptyRevision);
  const shown = folded.length > 1 ? branches.filter((branch) => !isEmptyRevision(branch)) : branches;
  return (
    <>
      <Line item={item} isRoot={isRoot} />
      <Pods pods={pods} ownerName={item.name} />
      <Branches branches={shown} />
      {folded.length > 1 && (
        <details class="folded">
          <summary>{plural(folded.length, 'earlier ReplicaSet')}</summary>
          <Branches branches={folded} />
        </details>
      )}
    </>
  );
});

/** A Deployment keeps the ReplicaSets of its earlier revisions, without pods. */
function isEmptyRevision({ item, children }: TreeNode): boolean {
  return item.kind === 'ReplicaSet' && children.length === 0;
}

function Branches({ branches }: { branches: readonly TreeNode[] }): VNode | null {
  if (branches.length === 0) return null;
  return (
    <ul class="branches">
      {branches.map((branch) => (
        <li key={branch.item.id}>
          <Branch tree={branch} isRoot={false} />
        </li>
      ))}
    </ul>
  );
}

function Line({ item, isRoot }: { item: Item; isRoot: boolean }): VNode {
  return (
    <div class={isRoot ? 'line root' : 'line'}>
      <Mark state={item.state} />
      <span class="kind">{item.kind}</span>
      <a class="name" href={hrefOfObject(item)}>
        {isRoot && item.namespace !== undefined && <span class="namespace">{item.namespace}/</span>}
        {item.name}
      </a>
      <span class="text">{item.text}</span>
    </div>
  );
}
