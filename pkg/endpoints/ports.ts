import type { Cached, Container, EndpointPort, Pod, Service, ServicePort } from '../api/index.ts';
import { sortSlicePorts } from './go-order.ts';

/** The port number on the pod for a port of the Service; undefined if the pod has no port of that name. */
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

/** One combination of ports. Endpoints in one slice have the same ports. */
export interface PortMap {
  readonly key: string;
  readonly ports: readonly Cached<EndpointPort>[];
}

export function portMapOf(ports: readonly Cached<EndpointPort>[]): PortMap {
  return { key: portMapKey(ports), ports: sortSlicePorts(ports) };
}

/** The key does not depend on the order of the ports. */
export function portMapKey(ports: readonly Cached<EndpointPort>[] | null | undefined): string {
  const keys = (ports ?? []).map(
    ({ name = '', protocol = '', port, appProtocol }) => `${name} ${protocol} ${port ?? ''} ${appProtocol ?? ''}`,
  );
  return keys.sort().join();
}

/**
 * Returns a function that finds the ports of a pod. Without named target ports all pods have the same ports, computed
 * once. With named ports, they are computed once for each combination of numbers.
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
