import { describe, expect, test } from 'vitest';

import { AbsentOwners } from './absent-owners.ts';
import { drawGraph } from './dot.ts';
import { DependencyGraph } from './graph.ts';

function graphOfThree(): DependencyGraph {
  const ignore = (): void => {};
  const listener = { attemptDelete: ignore, attemptOrphan: ignore, foundForeignOwner: ignore };
  const graph = new DependencyGraph(new AbsentOwners(), listener);
  const replicaSet = { apiVersion: 'apps/v1', kind: 'ReplicaSet' };
  const owner = { ...replicaSet, name: 'web', uid: 'u1' };
  const lost = { apiVersion: 'v1', kind: 'Secret', name: 'lost', uid: 'u9' };
  const deletion = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['foregroundDeletion'] };
  graph.observe(replicaSet, { namespace: 'a', name: 'web', uid: 'u1', ...deletion });
  graph.observe({ apiVersion: 'v1', kind: 'Pod' }, { namespace: 'a', name: 'p', uid: 'u2', ownerReferences: [owner] });
  graph.observe({ apiVersion: 'v1', kind: 'ConfigMap' }, { namespace: 'a', name: 'alone', uid: 'u3' });
  graph.observe({ apiVersion: 'v1', kind: 'Pod' }, { namespace: 'b', name: 'q', uid: 'u4', ownerReferences: [lost] });
  return graph;
}

const draw = (...uids: string[]): string => [...drawGraph(graphOfThree(), uids)].join('');
const drawn = (dot: string): string[] => [...dot.matchAll(/^ {2}"(\w+)" \[/gm)].map(([, uid = '']) => uid).toSorted();

describe('drawGraph', () => {
  test('draws an object with all attributes and edges to its owners', () => {
    expect(draw('u2')).toBe(`strict digraph full {
  "u2" [
    label="uid=u2\\nnamespace=a\\nPod.v1/p\\n"
    group=""
    version="v1"
    kind="Pod"
    namespace="a"
    name="p"
    uid="u2"
    missing="false"
    beingDeleted="false"
    deletingDependents="false"
    virtual="false"
  ];
  "u2" -> "u1";
  "u1" [
    label="uid=u1\\nnamespace=a\\nReplicaSet.v1.apps/web\\nbeingDeleted,deletingDependents\\n"
    group="apps"
    version="v1"
    kind="ReplicaSet"
    namespace="a"
    name="web"
    uid="u1"
    missing="false"
    beingDeleted="true"
    deletingDependents="true"
    virtual="false"
  ];
}
`);
  });

  test('omits objects without edges, and draws virtual owners', () => {
    expect(drawn(draw())).toEqual(['u1', 'u2', 'u4', 'u9']);
    expect(draw()).toContain('virtual="true"');
  });

  test('draws the objects connected to the given uids', () => {
    expect(drawn(draw('u9'))).toEqual(['u4', 'u9']);
    expect(drawn(draw('nobody'))).toEqual([]);
  });
});
