import type { Cached, Container, EndpointPort, Pod, Service, ServicePort } from '../api/index.ts';
import { sortSlicePorts } from './go-order.ts';

/** The number that a port of a Service has on one pod; undefined if it is a name that the pod does not know. */
export function findPort(pod: Cached<Pod>, servicePort: Cached<ServicePort>): number | undefined {
  const target = servicePort.targetPort ?? servicePort.port;
  if (typeof target === 'number') return target;
  const { containers, initContainers = [] } = pod.spec;
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always');
  return findNamedPort(containers, target, servicePort) ?? findNamedPort(sidecars, target, servicePort);
}

function findNamedPort(
  containers: readonly Cached<Container>[],
  name: string,
  { protocol = 'TCP' }: Cached<ServicePort>,
): number | undefined {
  for (const { ports = [] } of containers) {
    for (const port of ports) {
      if (port.name === name && (port.protocol ?? 'TCP') === protocol) return port.containerPort;
    }
  }
  return undefined;
}

/** One combination of ports. Endpoints share a slice only if they have the same. */
export interface PortMap {
  readonly key: string;
  readonly ports: readonly Cached<EndpointPort>[];
}

export function portMapOf(ports: readonly Cached<EndpointPort>[]): PortMap {
  return { key: portMapKey(ports), ports: sortSlicePorts(ports) };
}

/** The same for the same ports, in whatever order they come. */
export function portMapKey(ports: readonly Cached<EndpointPort>[] | null | undefined): string {
  const keys = (ports ?? []).map(
    ({ name = '', protocol = '', port, appProtocol }) => `${name} ${protocol} ${port ?? ''} ${appProtocol ?? ''}`,
  );
  return keys.sort().join();
}

/**
 * Answers with the ports of each pod behind a Service. Most Services name no ports, and then all their pods have the
 * same: the answer is computed once, and for named ports once for each combination of numbers.
 */
export function portResolver({ spec }: Cached<Service>): (pod: Cached<Pod>) => PortMap {
  const { ports: servicePorts = [] } = spec;
  const known = new Map<string, PortMap>();
  const hasNames = servicePorts.some(({ targetPort }) => typeof targetPort === 'string');
  const resolve = (numbers: readonly (number | undefined)[]): PortMap => {
    const ports = servicePorts.flatMap(({ name = '', protocol = 'TCP', appProtocol }, index) => {
      const port = numbers[index];
      return port === undefined
        ? []
        : [{ name, port, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }];
    });
    return portMapOf(ports);
  };
  let shared: PortMap | undefined;
  return (pod) => {
    if (shared !== undefined) return shared;
    const numbers = servicePorts.map((port) => findPort(pod, port));
    if (!hasNames) return (shared = resolve(numbers));
    const id = numbers.join();
    let portMap = known.get(id);
    if (portMap === undefined) known.set(id, (portMap = resolve(numbers)));
    return portMap;
  };
}
