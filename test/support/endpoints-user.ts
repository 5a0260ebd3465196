import {
  EndpointsKind,
  EndpointSlices,
  Nodes,
  objectKey,
  Pods,
  Services,
  type Endpoints,
  type EndpointSlice,
  type Kind,
  type KubeObject,
  type Pod,
  type PodSpec,
  type Service,
  type Unsaved,
} from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { eventually } from './eventually.ts';
import { NamespaceUser } from './namespace-user.ts';

type ServiceSpec = Service['spec'];

export interface DescribedPod {
  readonly labels: Record<string, string>;
  /** The last byte of its addresses, which are the same in every run. */
  readonly ip: number;
  readonly node?: string;
  /** Default: true. */
  readonly ready?: boolean;
  readonly phase?: string;
  readonly spec?: Partial<PodSpec>;
}

/** Nodes with everything that topology hints require, two in each of three zones. */
export async function createNodes(client: Client, signal: AbortSignal): Promise<void> {
  for (const [index, zone] of ['zone-a', 'zone-a', 'zone-b', 'zone-b', 'zone-c', 'zone-c'].entries()) {
    const metadata = { name: `node-${index}`, labels: { 'topology.kubernetes.io/zone': zone } };
    const lastTime = new Date(0).toISOString();
    const ready = { type: 'Ready', status: 'True', lastHeartbeatTime: lastTime, lastTransitionTime: lastTime };
    const resources = { cpu: '4', memory: '8Gi', pods: '100' };
    await client.create(Nodes, { metadata, spec: {} }, signal);
    await client.patch(
      Nodes,
      objectKey(undefined, metadata.name),
      {
        type: 'merge',
        subresource: 'status',
        body: { status: { capacity: resources, allocatable: resources, conditions: [ready] } },
      },
      signal,
    );
  }
}

/**
 * Acts like users of Services and like kubelets, in one namespace. Pods get the same addresses and nodes in every run, so
 * that the end states of two runs can be compared field by field.
 */
export class EndpointsUser extends NamespaceUser {
  service(name: string, spec: Partial<ServiceSpec>, metadata: Service['metadata'] | object = {}): Promise<Service> {
    const ports = [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }];
    const service = { metadata: { namespace: this.namespace, name, ...metadata }, spec: { ports, ...spec } };
    return this.client.create(Services, service, this.signal);
  }

  async pod(name: string, described: DescribedPod): Promise<void> {
    const { labels, node = 'node-0', spec } = described;
    const pod: Unsaved<Pod> = {
      metadata: { namespace: this.namespace, name, labels },
      spec: { nodeName: node, containers: [{ name: 'app', image: 'example' }], ...spec },
    };
    await this.client.create(Pods, pod, this.signal);
    await this.report(name, described);
  }

  /** Updates the status of the pod, like a kubelet. */
  async report(name: string, { ip, ready = true, phase = 'Running' }: DescribedPod): Promise<void> {
    const [v4, v6] = [`10.200.0.${ip}`, `fd00:200::${ip.toString(16)}`];
    const condition = { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: new Date().toISOString() };
    const status = { phase, podIP: v4, podIPs: [{ ip: v4 }, { ip: v6 }], conditions: [condition] };
    await this.patch(Pods, name, { status }, 'status');
  }

  async patch<T extends KubeObject>(kind: Kind<T>, name: string, body: object, subresource?: string): Promise<T> {
    const patch = { type: 'merge', body, subresource } as const;
    return this.client.patch(kind, objectKey(this.namespace, name), patch, this.signal);
  }

  async delete(kind: Kind, name: string, gracePeriodSeconds?: number): Promise<void> {
    await this.client.delete(kind, objectKey(this.namespace, name), { gracePeriodSeconds }, this.signal);
  }

  create<T extends KubeObject>(kind: Kind<T>, object: Unsaved<T>): Promise<T> {
    const metadata = { namespace: this.namespace, ...object.metadata };
    return this.client.create(kind, { ...object, metadata }, this.signal);
  }

  async slices(service: string): Promise<EndpointSlice[]> {
    const labelSelector = `kubernetes.io/service-name=${service}`;
    return (await this.client.listAll(EndpointSlices, { namespace: this.namespace, labelSelector }, this.signal)).items;
  }

  endpoints(name: string): Promise<Endpoints> {
    return this.client.get(EndpointsKind, objectKey(this.namespace, name), this.signal);
  }

  async untilGone(kind: Kind, name: string): Promise<void> {
    await eventually(async () => {
      const { items } = await this.client.listAll(kind, { namespace: this.namespace }, this.signal);
      return items.every(({ metadata }) => metadata.name !== name);
    }, this.signal);
  }

  /** Waits until the slices of a Service match. */
  async untilSlices(service: string, isWanted: (slices: EndpointSlice[]) => boolean): Promise<EndpointSlice[]> {
    return eventually(async () => {
      const slices = await this.slices(service);
      if (!isWanted(slices)) throw new Error(`slices of ${service}: ${slices.map(describeSlice).join('; ')}`);
      return slices;
    }, this.signal);
  }

  async untilEndpoints(name: string, isWanted: (endpoints: Endpoints) => boolean): Promise<Endpoints> {
    return eventually(async () => {
      const endpoints = await this.endpoints(name);
      if (!isWanted(endpoints)) throw new Error(`Endpoints ${name}: ${describeEndpoints(endpoints)}`);
      return endpoints;
    }, this.signal);
  }
}

/** `IPv4 http:8080/TCP | a:rs b:s` … endpoints by name with the first letters of their conditions. */
export function describeSlice({ addressType, ports, endpoints }: EndpointSlice): string {
  const portText = (ports ?? []).map(({ name, port, protocol }) => `${name ?? ''}:${port ?? ''}/${protocol ?? ''}`);
  const endpointTexts = (endpoints ?? []).map(({ targetRef, addresses, conditions = {}, hints }) => {
    const { ready, serving, terminating } = conditions;
    const letters = `${ready ? 'r' : ''}${serving ? 's' : ''}${terminating ? 't' : ''}`;
    const targets = [...(hints?.forZones ?? []), ...(hints?.forNodes ?? [])].map(({ name }) => `>${name}`);
    return `${targetRef?.name ?? addresses.join('+')}:${letters}${targets.join('')}`;
  });
  return `${addressType} ${portText.sort().join(',')} | ${endpointTexts.sort().join(' ')}`;
}

/** `http:8080/TCP | a b ! c` … addresses by pod, not ready ones after the `!`. */
export function describeEndpoints({ subsets = [] }: Endpoints): string {
  return subsets
    .map(({ addresses = [], notReadyAddresses = [], ports = [] }) => {
      const portText = ports.map(({ name, port, protocol }) => `${name ?? ''}:${port}/${protocol ?? ''}`);
      const names = (list: typeof addresses): string[] => list.map(({ targetRef, ip }) => targetRef?.name ?? ip).sort();
      const notReady = notReadyAddresses.length > 0 ? ['!', ...names(notReadyAddresses)] : [];
      return `${portText.sort().join(',')} | ${[...names(addresses), ...notReady].join(' ')}`;
    })
    .sort()
    .join('; ');
}
