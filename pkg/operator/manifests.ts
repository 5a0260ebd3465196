import type { Kind } from '../api/index.ts';
import type { OperatorController } from './controller.ts';
import type { PolicyRule } from './rbac.ts';
import type { CrdManifest, Resource } from './resource.ts';

export interface ManifestOptions {
  /** The name of the manager, and of all its manifests. */
  readonly name: string;
  /** Default: the name. */
  readonly namespace?: string | undefined;
  readonly image: string;
  readonly controllers: readonly OperatorController[];
  /** Default 1. With more, the others wait for the lease. */
  readonly replicas?: number | undefined;
  /** The port of `runManager`'s server. Default 8080. */
  readonly port?: number | undefined;
}

/** A Kubernetes List, for `kubectl apply -f -`. */
export interface ManifestList {
  readonly apiVersion: 'v1';
  readonly kind: 'List';
  readonly items: readonly { readonly kind: string; readonly [field: string]: unknown }[];
}

/**
 * Everything that is needed to run an operator in a cluster: its custom resources, namespace, service account, the
 * permissions that its controllers need and no others, and a Deployment with probes.
 */
export function manifestsOf(options: ManifestOptions): ManifestList {
  const { name, namespace = name, controllers } = options;
  const metadata = { name, namespace };
  const subjects = [{ kind: 'ServiceAccount', ...metadata }];
  const bind = (kind: 'Role' | 'ClusterRole', rules: readonly PolicyRule[], place: object): ManifestList['items'] => [
    { apiVersion: rbacVersion, kind, metadata: place, rules },
    {
      apiVersion: rbacVersion,
      kind: `${kind}Binding`,
      metadata: place,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
      subjects,
    },
  ];
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      ...definitionsOf(controllers.flatMap(({ kinds }) => kinds)),
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
      ...bind('ClusterRole', mergeRules(controllers.flatMap(({ rules }) => rules)), { name }),
      ...bind('Role', [leaseRule], metadata),
      deploymentOf(options, namespace),
    ],
  };
}

const rbacVersion = 'rbac.authorization.k8s.io/v1';
const leaseRule = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] };

function definitionsOf(kinds: readonly (Kind | Resource)[]): (CrdManifest & { kind: string })[] {
  const definitions = kinds.flatMap((kind) => ('crd' in kind && kind.isExternal !== true ? [kind.crd] : []));
  const byName = new Map(definitions.map((crd) => [crd.metadata.name, { ...crd, kind: 'CustomResourceDefinition' }]));
  return [...byName.values()];
}

/** One rule for each resource, with the verbs of all. */
function mergeRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const merged = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const id = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames]);
    merged.set(id, { ...rule, verbs: [...new Set([...(merged.get(id)?.verbs ?? []), ...rule.verbs])] });
  }
  return [...merged.values()];
}

function deploymentOf({ name, image, replicas = 1, port = 8080 }: ManifestOptions, namespace: string) {
  const labels = { 'app.kubernetes.io/name': name };
  const probe = (path: string): object => ({ httpGet: { path, port } });
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name,
              image,
              env: [{ name: 'NODE_ENV', value: 'production' }],
              ports: [{ name: 'http', containerPort: port }],
              livenessProbe: probe('/healthz'),
              readinessProbe: probe('/readyz'),
              resources: { requests: { cpu: '10m', memory: '128Mi' }, limits: { memory: '256Mi' } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
            },
          ],
        },
      },
    },
  };
}
