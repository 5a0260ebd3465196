import { ownValue, type Cached, type Node, type Service } from '../api/index.ts';
import type {
  CloudProvider,
  InstanceMetadata,
  Instances,
  LoadBalancers,
  LoadBalancerStatus,
  Route,
  Routes,
} from '../cloud/index.ts';
import { powerOf } from './machine-power.ts';

/** A cloud that exists only in memory. All parts are supported. */
export interface HollowCloud extends CloudProvider {
  readonly loadBalancers: LoadBalancers;
  readonly routes: Routes;
  readonly instances: Instances;
  /** The nodes behind each load balancer, by the key of its Service. */
  backendsOf(service: string): readonly string[] | undefined;
}

interface Balancer {
  readonly ip: string;
  readonly nodes: readonly string[];
}

/** TEST-NET-3, which is for documentation: nothing answers there. */
const networkOfBalancers = '203.0.113';
const lastHost = 254;

/**
 * Load balancers get an address each, and send nothing anywhere. The machine of a node runs unless the node's annotation
 * says otherwise: see `machineAnnotation`. A Service that shows an address of an earlier run keeps it.
 */
export function createHollowCloud(): HollowCloud {
  const balancers = new Map<string, Balancer>();
  const routes = new Map<string, Route>();
  let lastUsed = 0;

  function allocate(service: Cached<Service>): string {
    const used = new Set([...balancers.values()].map(({ ip }) => ip));
    const wanted = [service.spec.loadBalancerIP ?? '', service.status?.loadBalancer?.ingress?.[0]?.ip ?? ''];
    const own = wanted.find((ip) => ip.startsWith(`${networkOfBalancers}.`) && !used.has(ip));
    if (own !== undefined) return own;
    for (let tries = 0; tries < lastHost; tries += 1) {
      lastUsed = (lastUsed % lastHost) + 1;
      const ip = `${networkOfBalancers}.${lastUsed}`;
      if (!used.has(ip)) return ip;
    }
    throw new NoAddressLeftError('all addresses of load balancers are in use');
  }

  const statusOf = ({ ip }: Balancer): LoadBalancerStatus => ({ ingress: [{ ip }] });
  return {
    backendsOf: (service) => balancers.get(service)?.nodes,
    loadBalancers: {
      async get(_cluster, service) {
        const balancer = balancers.get(nameOf(service));
        return balancer === undefined ? undefined : statusOf(balancer);
      },
      async ensure({ service, nodes }) {
        const ip = balancers.get(nameOf(service))?.ip ?? allocate(service);
        const balancer = { ip, nodes: nodes.map(({ metadata }) => metadata.name).sort() };
        balancers.set(nameOf(service), balancer);
        return statusOf(balancer);
      },
      async update({ service, nodes }) {
        const balancer = balancers.get(nameOf(service));
        if (balancer === undefined) throw new NoBalancerError(`no load balancer of ${nameOf(service)}`);
        balancers.set(nameOf(service), { ...balancer, nodes: nodes.map(({ metadata }) => metadata.name).sort() });
      },
      async delete(_cluster, service) {
        balancers.delete(nameOf(service));
      },
    },
    routes: {
      list: async () => [...routes.values()],
      async create({ route }) {
        const name = `${route.targetNode}-${route.destinationCidr}`;
        routes.set(name, { ...route, name });
      },
      async delete(_cluster, { name = '' }) {
        routes.delete(name);
      },
    },
    instances: {
      exists: async (node) => powerOf(node) !== 'gone',
      isShutDown: async (node) => powerOf(node) === 'off',
      metadataOf: async (node) => describeMachine(node),
    },
  };
}

function nameOf({ metadata: { namespace = '', name } }: Cached<Service>): string {
  return `${namespace}/${name}`;
}

function describeMachine({ metadata }: Cached<Node>): InstanceMetadata {
  return {
    providerId: `hollow://${metadata.name}`,
    instanceType: 'hollow.large',
    zone: ownValue(metadata.labels, 'topology.kubernetes.io/zone') ?? 'zone-a',
    region: 'hollow',
  };
}

/** The network of load balancers has no address left. */
class NoAddressLeftError extends Error {
  override readonly name = 'NoAddressLeftError';
  readonly reason = 'NoAddressLeft';
}

/** The Service has no load balancer. */
class NoBalancerError extends Error {
  override readonly name = 'NoBalancerError';
  readonly reason = 'NoBalancer';
}
