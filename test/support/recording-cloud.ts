import type { Cached, Node, Service } from '../../pkg/api/index.ts';
import type {
  CloudProvider,
  InstanceMetadata,
  Instances,
  LoadBalancers,
  LoadBalancerStatus,
  Route,
  Routes,
} from '../../pkg/cloud/index.ts';

type Verb =
  | 'get'
  | 'ensure'
  | 'update'
  | 'delete'
  | 'list'
  | 'create'
  | 'remove'
  | 'exists'
  | 'isShutDown'
  | 'metadataOf';

/** A cloud that records its calls, and fails where a test says so. */
export class RecordingCloud implements CloudProvider {
  readonly calls: string[] = [];
  readonly failures = new Map<Verb, Error>();
  /** The nodes behind each load balancer, by the name of its Service. */
  readonly balancers = new Map<string, readonly string[]>();
  /** The state of machines that do not run, by the name of their node. */
  readonly machines = new Map<string, 'off' | 'gone'>();
  readonly metadata = new Map<string, InstanceMetadata>();
  status: LoadBalancerStatus = { ingress: [{ ip: '203.0.113.1' }] };
  routesOfCloud: Route[] = [];

  readonly loadBalancers: LoadBalancers = {
    get: async (_, service) => {
      this.#record('get', nameOf(service));
      return this.balancers.has(nameOf(service)) ? this.status : undefined;
    },
    ensure: async ({ service, nodes }) => {
      this.#record('ensure', `${nameOf(service)} ${namesOf(nodes).join(',')}`);
      this.balancers.set(nameOf(service), namesOf(nodes));
      return this.status;
    },
    update: async ({ service, nodes }) => {
      this.#record('update', `${nameOf(service)} ${namesOf(nodes).join(',')}`);
      this.balancers.set(nameOf(service), namesOf(nodes));
    },
    delete: async (_, service) => {
      this.#record('delete', nameOf(service));
      this.balancers.delete(nameOf(service));
    },
  };

  readonly routes: Routes = {
    list: async () => {
      this.#record('list', 'routes');
      return [...this.routesOfCloud];
    },
    create: async ({ route }) => {
      this.#record('create', `${route.targetNode} ${route.destinationCidr}`);
      this.routesOfCloud.push({ ...route, name: `${route.targetNode} ${route.destinationCidr}` });
    },
    delete: async (_, route) => {
      this.#record('remove', `${route.targetNode} ${route.destinationCidr}`);
      this.routesOfCloud = this.routesOfCloud.filter((each) => each !== route);
    },
  };

  readonly instances: Instances = {
    exists: async ({ metadata: { name } }) => {
      this.#record('exists', name);
      return this.machines.get(name) !== 'gone';
    },
    isShutDown: async ({ metadata: { name } }) => {
      this.#record('isShutDown', name);
      return this.machines.get(name) === 'off';
    },
    metadataOf: async ({ metadata: { name } }) => {
      this.#record('metadataOf', name);
      return this.metadata.get(name);
    },
  };

  #record(verb: Verb, about: string): void {
    this.calls.push(`${verb} ${about}`.trimEnd());
    const failure = this.failures.get(verb);
    if (failure !== undefined) throw failure;
  }
}

function nameOf({ metadata }: Cached<Service>): string {
  return metadata.name;
}

function namesOf(nodes: readonly Cached<Node>[]): readonly string[] {
  return nodes.map(({ metadata }) => metadata.name).sort();
}
