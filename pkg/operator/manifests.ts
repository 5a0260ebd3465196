import type { Kind } from '../api/index.ts';
import type { OperatorController } from './controller.ts';
import { DefinitionError } from './definition-error.ts';
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
  /** The server that `runManager` is given. Default: plain HTTP on port 8080. Without one, there are no probes. */
  readonly server?: false | ProbedServer | undefined;
  /** The leader election that `runManager` is given. Default: on, with a lease in the namespace of the manager. */
  readonly leaderElection?: boolean | LeasePlace | undefined;
}

/** What matters to probes and permissions of the settings of `runManager`'s server. */
export interface ProbedServer {
  /** Default 8080. */
  readonly port?: number | 'any' | undefined;
  /** Default: if there is a certificate. */
  readonly secure?: boolean | undefined;
  readonly certFile?: string | undefined;
}

/** What matters to permissions of the settings of `runManager`'s leader election. */
export interface LeasePlace {
  /** Default: that of the manager. */
  readonly namespace?: string | undefined;
  readonly coordination?: object | undefined;
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
  const { name, namespace = name, controllers, server = {} } = options;
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
  const rules = [...controllers.flatMap((each) => each.rules), ...(isSecure(server) ? reviewRules : [])];
  const lease = leaseOf(options, namespace);
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      ...definitionsOf(controllers.flatMap(({ kinds }) => kinds)),
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
      ...bind('ClusterRole', mergeRules(rules), { name }),
      ...(lease === undefined ? [] : bind('Role', lease.rules, { name, namespace: lease.namespace })),
      deploymentOf(options, namespace),
    ],
  };
}

const rbacVersion = 'rbac.authorization.k8s.io/v1';
const leaseGroup = 'coordination.k8s.io';
const leaseRule = { apiGroups: [leaseGroup], resources: ['leases'], verbs: ['get', 'create', 'update'] };
const candidateRule = {
  apiGroups: [leaseGroup],
  resources: ['leasecandidates'],
  verbs: ['get', 'watch', 'create', 'update'],
};
/** A secure server asks the API server who may read metrics. */
const reviewRules = [
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
];

function isSecure(server: false | ProbedServer): boolean {
  return server !== false && (server.secure ?? server.certFile !== undefined);
}

/** Where the lease is, and what may be done there. Undefined without leader election. */
function leaseOf({ leaderElection = true }: ManifestOptions, ownNamespace: string) {
  if (leaderElection === false) return undefined;
  const { namespace = ownNamespace, coordination }: LeasePlace = leaderElection === true ? {} : leaderElection;
  return { namespace, rules: coordination === undefined ? [leaseRule] : [leaseRule, candidateRule] };
}

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

/** The port of the server, and the probes of it. */
function probesOf(server: false | ProbedServer): object {
  if (server === false) return {};
  const { port = 8080 } = server;
  if (port === 'any') throw new DefinitionError('manifests: probes need a server with a fixed port');
  const scheme = isSecure(server) ? 'HTTPS' : 'HTTP';
  const probe = (path: string): object => ({ httpGet: { path, port, scheme } });
  return {
    ports: [{ name: scheme.toLowerCase(), containerPort: port }],
    livenessProbe: probe('/healthz'),
    readinessProbe: probe('/readyz'),
  };
}

function deploymentOf({ name, image, replicas = 1, server = {} }: ManifestOptions, namespace: string) {
  const labels = { 'app.kubernetes.io/name': name };
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
              ...probesOf(server),
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
