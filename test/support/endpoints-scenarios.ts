import { EndpointsKind, EndpointSlices, Pods, Services, type Endpoints } from '../../pkg/api/index.ts';
import { describeSlice, describeEndpoints, type EndpointsUser } from './endpoints-user.ts';

const web = { app: 'web' };
const port = (name: string, number: number, targetPort: number | string = number, protocol = 'TCP') => ({
  name,
  port: number,
  protocol,
  targetPort,
});
const containerPorts = (...ports: readonly { name: string; containerPort: number; protocol?: string }[]) => ({
  containers: [{ name: 'app', image: 'example', ports: ports.map((each) => ({ ...each })) }],
});

/** So many that their addresses, counted once per port, exceed the limit of Endpoints. */
const hugePorts = 34;
const hugePortsBut = (index: number) =>
  namedPorts(hugePorts)
    .map((name, at) => ({ name, containerPort: 9000 + at }))
    .toSpliced(index, 1);
const namedPorts = (count: number): string[] => Array.from({ length: count }, (_, index) => `p${index}`);

/** All types of Services, each with separate pods, then all relevant changes. */
export async function runEndpointsScenarios(user: EndpointsUser): Promise<void> {
  await Promise.all([createPods(user), createBareServices(user)]);
  await createServices(user);
  await untilSettled(user, firstStates);
  // One kind of change after another: the trigger time in a write depends on the changes that one sync covers.
  await changeServices(user);
  await untilSettled(user, { ...secondStates, ...unchangingStates });
  await user.report('web-2', { labels: web, ip: 2, ready: false });
  await untilSettled(
    user,
    statesOfWeb('web-1:rs web-2: web-leaving:rs web-unready:', 'web-1 web-leaving ! web-2 web-unready'),
  );
  await user.delete(Pods, 'web-leaving', 3600);
  await untilSettled(user, lastStates);
}

async function createPods(user: EndpointsUser): Promise<void> {
  const longGrace = { terminationGracePeriodSeconds: 3600 };
  await Promise.all([
    user.pod('web-1', { labels: web, ip: 1, node: 'node-0' }),
    user.pod('web-2', { labels: web, ip: 2, node: 'node-2' }),
    user.pod('web-unready', { labels: web, ip: 3, node: 'node-4', ready: false }),
    user.pod('web-done', { labels: web, ip: 4, phase: 'Succeeded', ready: false }),
    user.pod('web-leaving', { labels: web, ip: 5, node: 'node-1', spec: longGrace }),
    user.pod('named-8080', {
      labels: { app: 'named' },
      ip: 10,
      spec: containerPorts({ name: 'http', containerPort: 8080 }, { name: 'dns', containerPort: 53, protocol: 'UDP' }),
    }),
    user.pod('named-9090', {
      labels: { app: 'named' },
      ip: 11,
      spec: containerPorts({ name: 'http', containerPort: 9090 }),
    }),
    user.pod('named-none', { labels: { app: 'named' }, ip: 12 }),
    user.pod('named-sidecar', {
      labels: { app: 'named' },
      ip: 13,
      spec: {
        initContainers: [
          { name: 'proxy', image: 'example', restartPolicy: 'Always', ports: [{ name: 'http', containerPort: 8080 }] },
        ],
      },
    }),
    user.pod('member-0', { labels: { app: 'member' }, ip: 20, spec: { hostname: 'zero', subdomain: 'members' } }),
    user.pod('member-1', { labels: { app: 'member' }, ip: 21, spec: { hostname: 'one', subdomain: 'others' } }),
    user.pod('host-1', { labels: { app: 'host' }, ip: 30, node: 'node-1', spec: { hostNetwork: true } }),
    user.pod('host-2', { labels: { app: 'host' }, ip: 30, node: 'node-1', spec: { hostNetwork: true } }),
    user.pod('ghost-1', { labels: { app: 'ghost' }, ip: 31, node: 'no-such-node' }),
    user.pod('ghost-2', { labels: { app: 'ghost' }, ip: 32, node: 'node-0' }),
    ...Array.from({ length: 9 }, (_, index) =>
      user.pod(`spread-${index}`, { labels: { app: 'spread' }, ip: 40 + index, node: `node-${(index * 2) % 6}` }),
    ),
    ...Array.from({ length: 25 }, (_, index) =>
      user.pod(`many-${index}`, { labels: { app: 'many' }, ip: 100 + index }),
    ),
    // Each pod has all ports but one, so that no two ports have the same addresses.
    ...Array.from({ length: hugePorts }, (_, index) =>
      user.pod(`huge-${index}`, {
        labels: { app: 'huge' },
        ip: 160 + index,
        spec: containerPorts(...hugePortsBut(index)),
      }),
    ),
    user.pod('moving', { labels: { app: 'moving', side: 'left' }, ip: 60 }),
    // Different ports of the Service, with the same number.
    user.pod('same-http', {
      labels: { app: 'same' },
      ip: 70,
      spec: containerPorts({ name: 'http', containerPort: 8080 }),
    }),
    user.pod('same-metrics', {
      labels: { app: 'same' },
      ip: 71,
      spec: containerPorts({ name: 'metrics', containerPort: 8080 }),
    }),
    user.pod('same-udp', {
      labels: { app: 'same' },
      ip: 72,
      spec: containerPorts({ name: 'http', containerPort: 8080, protocol: 'UDP' }),
    }),
  ]);
}

/** Services without a selector, with Endpoints that users manage. */
async function createBareServices(user: EndpointsUser): Promise<void> {
  await Promise.all(
    ['bare', 'bare-selected-later', 'bare-skipped', 'bare-deleted'].map((name) => user.service(name, {})),
  );
  const subsets = [
    { addresses: [{ ip: '192.0.2.1', hostname: 'first' }, { ip: '192.0.2.2' }], ports: [{ name: 'http', port: 8080 }] },
    { notReadyAddresses: [{ ip: '2001:DB8:0::1' }], ports: [{ name: 'http', port: 8080 }] },
    { addresses: [{ ip: '192.0.2.3' }], ports: [{ name: 'udp', port: 53, protocol: 'UDP' }] },
  ];
  await user.create(EndpointsKind, {
    metadata: {
      name: 'bare',
      labels: { team: 'a' },
      annotations: { note: 'kept', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
    },
    subsets,
  });
  const one = [
    { addresses: [{ ip: '192.0.2.10' }, { ip: '192.0.2.11' }, { ip: '192.0.2.12' }], ports: [{ port: 80 }] },
  ];
  await user.create(EndpointsKind, { metadata: { name: 'bare-selected-later' }, subsets: one });
  await user.create(EndpointsKind, { metadata: { name: 'bare-deleted' }, subsets: one });
  await user.create(EndpointsKind, {
    metadata: { name: 'bare-skipped', labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    subsets: one,
  });
  const foreign = {
    name: 'foreign',
    labels: { 'kubernetes.io/service-name': 'web', 'endpointslice.kubernetes.io/managed-by': 'someone' },
  };
  await user.create(EndpointSlices, {
    metadata: foreign,
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.99'] }],
    ports: [],
  });
}

async function createServices(user: EndpointsUser): Promise<void> {
  const spread = { app: 'spread' };
  await Promise.all([
    user.service('web', { selector: web }, { labels: { tier: 'front' } }),
    user.service('web-all', { selector: web, publishNotReadyAddresses: true }),
    user.service('web-ports', {
      selector: web,
      ports: [
        port('a', 80, 8080),
        port('b', 443, 8443),
        port('c', 53, 53, 'UDP'),
        { ...port('d', 90), appProtocol: 'kubernetes.io/h2c' },
      ],
    }),
    user.service('named', {
      selector: { app: 'named' },
      ports: [port('http', 80, 'http'), port('dns', 53, 'dns', 'UDP')],
    }),
    user.service('members', { selector: { app: 'member' }, clusterIP: 'None' }),
    user.service('portless', { selector: { app: 'member' }, clusterIP: 'None', ports: [] }),
    user.service('dual', { selector: web, ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6', 'IPv4'] }),
    user.service('six', { selector: web, ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] }),
    user.service('host', { selector: { app: 'host' } }),
    user.service('ghost', { selector: { app: 'ghost' } }),
    user.service('ghost-all', { selector: { app: 'ghost' }, publishNotReadyAddresses: true }),
    user.service('many', { selector: { app: 'many' } }),
    user.service('huge', {
      selector: { app: 'huge' },
      ports: namedPorts(hugePorts).map((name, at) => port(name, 9000 + at, name)),
    }),
    user.service('same', {
      selector: { app: 'same' },
      ports: [port('http', 80, 'http'), port('metrics', 81, 'metrics'), port('udp', 80, 'http', 'UDP')],
    }),
    user.service('nobody', { selector: { app: 'nobody' } }),
    user.service('left', { selector: { app: 'moving', side: 'left' } }),
    user.service('right', { selector: { app: 'moving', side: 'right' } }),
    user.service('unselected-later', { selector: web }),
    user.service('external-later', { selector: web }),
    user.service('external', { type: 'ExternalName', externalName: 'example.org', selector: web, ports: [] }),
    user.service('short-lived', { selector: web }),
    user.service('tampered', { selector: web }),
    user.service('close', { selector: spread, trafficDistribution: 'PreferClose' }),
    user.service('same-zone', { selector: spread, trafficDistribution: 'PreferSameZone' }),
    user.service('same-node', { selector: spread, trafficDistribution: 'PreferSameNode' }),
    user.service('topology', { selector: spread }, { annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } }),
    user.service(
      'topology-few',
      { selector: { app: 'member' } },
      { annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } },
    ),
    user.service(
      'topology-off',
      { selector: spread },
      { annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } },
    ),
  ]);
}

async function changeServices(user: EndpointsUser): Promise<void> {
  await Promise.all([
    user.patch(Services, 'unselected-later', { spec: { selector: null } }),
    user.patch(Services, 'external-later', {
      spec: {
        type: 'ExternalName',
        externalName: 'example.org',
        clusterIP: '',
        clusterIPs: null,
        ipFamilies: null,
        ipFamilyPolicy: null,
      },
    }),
    user.delete(Services, 'short-lived'),
    user.patch(Services, 'bare-selected-later', { spec: { selector: web } }),
    user.patch(Services, 'external', {
      spec: { type: 'ClusterIP', externalName: null, ports: [port('http', 80, 8080)] },
    }),
    user.patch(Services, 'web', { metadata: { labels: { tier: 'back', extra: 'label' } } }),
    user.patch(Services, 'topology-off', {
      metadata: { annotations: { 'service.kubernetes.io/topology-mode': null } },
    }),
    user.patch(EndpointsKind, 'bare', { metadata: { labels: { team: 'b' } } }),
    user.delete(EndpointsKind, 'bare-deleted'),
    user.delete(EndpointsKind, 'nobody'),
    user.patch(EndpointSlices, await firstSliceOf(user, 'tampered'), { endpoints: [] }),
    user.delete(EndpointSlices, await firstSliceOf(user, 'host')),
    user.patch(Pods, 'moving', { metadata: { labels: { side: 'right' } } }),
    ...Array.from({ length: 3 }, (_, index) =>
      user.pod(`many-more-${index}`, { labels: { app: 'many' }, ip: 150 + index }),
    ),
  ]);
  await user.untilGone(EndpointsKind, 'short-lived');
}

async function firstSliceOf(user: EndpointsUser, service: string): Promise<string> {
  return (await user.slices(service))[0]?.metadata.name ?? '';
}

/** The slices of each Service, and its Endpoints with `/` before the name. */
export type States = Readonly<Record<string, readonly string[]>>;

const webFirst = 'web-1:rs web-2:rs web-leaving:rs web-unready:';
const spreadOver = (hint: (index: number) => string): string =>
  Array.from({ length: 9 }, (_, index) => `spread-${index}:rs${hint(index)}`).join(' ');
const zoneOf = (index: number): string => `zone-${'abc'.charAt(index % 3)}`;
const manyOf = (...sizes: readonly number[]): string[] => sizes.map((size) => `IPv4 http:8080/TCP | ${size} of many`);

const firstStates: States = {
  web: [`IPv4  | 192.0.2.99:`, `IPv4 http:8080/TCP | ${webFirst}`],
  many: manyOf(10, 10, 5),
  tampered: [`IPv4 http:8080/TCP | ${webFirst}`],
  host: ['IPv4 http:8080/TCP | host-1:rs host-2:rs'],
  'unselected-later': [`IPv4 http:8080/TCP | ${webFirst}`],
  'external-later': [`IPv4 http:8080/TCP | ${webFirst}`],
  'topology-off': [`IPv4 http:8080/TCP | ${spreadOver((index) => `>${zoneOf(index)}`)}`],
  left: ['IPv4 http:8080/TCP | moving:rs'],
  right: ['IPv4  | '],
  nobody: ['IPv4  | '],
  'bare-selected-later': ['IPv4 :80/TCP | 192.0.2.10:r 192.0.2.11:r 192.0.2.12:r'],
  'bare-deleted': ['IPv4 :80/TCP | 192.0.2.10:r 192.0.2.11:r 192.0.2.12:r'],
  '/nobody': [''],
  '/huge': ['1000 of huge'],
  '/short-lived': ['http:8080/TCP | web-1 web-2 web-leaving ! web-unready'],
  '/unselected-later': ['http:8080/TCP | web-1 web-2 web-leaving ! web-unready'],
  '/external-later': ['http:8080/TCP | web-1 web-2 web-leaving ! web-unready'],
  '/right': [''],
};

/** Services that select the web pods, in the same way. */
function statesOfWeb(slice: string, endpoints: string): States {
  const alike = ['tampered', 'external', 'bare-selected-later'];
  const ports = 'a:8080/TCP,b:8443/TCP,c:53/UDP,d:90/TCP';
  return {
    web: [`IPv4  | 192.0.2.99:`, `IPv4 http:8080/TCP | ${slice}`],
    'web-ports': [`IPv4 ${ports} | ${slice}`],
    '/web-ports': [`${ports} | ${endpoints}`],
    dual: [`IPv4 http:8080/TCP | ${slice}`, `IPv6 http:8080/TCP | ${slice}`],
    six: [`IPv6 http:8080/TCP | ${slice}`],
    ...Object.fromEntries(alike.map((name) => [name, [`IPv4 http:8080/TCP | ${slice}`]])),
    ...Object.fromEntries(
      ['web', 'dual', 'six', ...alike].map((name) => [`/${name}`, [`http:8080/TCP | ${endpoints}`]]),
    ),
  };
}

/** Services that no later change of a pod affects. */
const unchangingStates: States = {
  named: [
    'IPv4  | named-none:rs',
    'IPv4 dns:53/UDP,http:8080/TCP | named-8080:rs',
    'IPv4 http:8080/TCP | named-sidecar:rs',
    'IPv4 http:9090/TCP | named-9090:rs',
  ],
  '/named': ['dns:53/UDP | named-8080; http:8080/TCP | named-8080 named-sidecar; http:9090/TCP | named-9090'],
  same: [
    'IPv4 http:8080/TCP | same-http:rs',
    'IPv4 metrics:8080/TCP | same-metrics:rs',
    'IPv4 udp:8080/UDP | same-udp:rs',
  ],
  '/same': ['http:8080/TCP | same-http; metrics:8080/TCP | same-metrics; udp:8080/UDP | same-udp'],
  members: ['IPv4 http:8080/TCP | member-0:rs member-1:rs'],
  portless: ['IPv4  | member-0:rs member-1:rs'],
  '/portless': [' | member-0 member-1'],
  host: ['IPv4 http:8080/TCP | host-1:rs host-2:rs'],
  '/host': ['http:8080/TCP | host-1 host-2'],
  ghost: ['IPv4 http:8080/TCP | ghost-2:rs'],
  '/ghost': ['http:8080/TCP | ghost-1 ghost-2'],
  'ghost-all': ['IPv4 http:8080/TCP | ghost-1:rs ghost-2:rs'],
  many: manyOf(10, 10, 8),
  '/huge': ['1000 of huge'],
  nobody: ['IPv4  | '],
  '/nobody': [''],
  left: ['IPv4  | '],
  right: ['IPv4 http:8080/TCP | moving:rs'],
  '/right': ['http:8080/TCP | moving'],
  'unselected-later': [`IPv4 http:8080/TCP | web-1:r web-2:r web-leaving:r`, `IPv4 http:8080/TCP | ${webFirst}`],
  'external-later': [`IPv4 http:8080/TCP | ${webFirst}`],
  bare: [
    'IPv4 http:8080/TCP | 192.0.2.1:r 192.0.2.2:r',
    'IPv4 udp:53/UDP | 192.0.2.3:r',
    'IPv6 http:8080/TCP | 2001:db8::1:',
  ],
  'bare-skipped': [],
  'bare-deleted': [],
  close: [`IPv4 http:8080/TCP | ${spreadOver((index) => `>${zoneOf(index)}`)}`],
  'same-zone': [`IPv4 http:8080/TCP | ${spreadOver((index) => `>${zoneOf(index)}`)}`],
  'same-node': [`IPv4 http:8080/TCP | ${spreadOver((index) => `>${zoneOf(index)}>node-${(index * 2) % 6}`)}`],
  topology: [`IPv4 http:8080/TCP | ${spreadOver((index) => `>${zoneOf(index)}`)}`],
  'topology-few': ['IPv4 http:8080/TCP | member-0:rs member-1:rs'],
  'topology-off': [`IPv4 http:8080/TCP | ${spreadOver(() => '')}`],
};

const secondStates = statesOfWeb(webFirst, 'web-1 web-2 web-leaving ! web-unready');

/** A summary of each Service at the end. */
export const lastStates: States = {
  ...unchangingStates,
  ...statesOfWeb('web-1:rs web-2: web-leaving:st web-unready:', 'web-1 ! web-2 web-unready'),
  'web-all': ['IPv4 http:8080/TCP | web-1:rs web-2:r web-leaving:rst web-unready:r'],
  '/web-all': ['http:8080/TCP | web-1 web-2 web-leaving web-unready'],
};

async function untilSettled(user: EndpointsUser, states: States): Promise<void> {
  await Promise.all(
    Object.entries(states).map(async ([name, wanted]) => {
      const text = [...wanted].sort().join('; ');
      if (name.startsWith('/')) {
        await user.untilEndpoints(name.slice(1), (endpoints) => describeCountedEndpoints(endpoints) === text);
      } else {
        await user.untilSlices(name, (slices) => slices.map(describeCounted).sort().join('; ') === text);
      }
    }),
  );
}

/** The assignment of many endpoints to slices is random: there, only the number is compared. */
export function describeCounted(slice: Parameters<typeof describeSlice>[0]): string {
  const text = describeSlice(slice);
  return text.includes('| many-') ? `${text.split('|')[0] ?? ''}| ${slice.endpoints?.length ?? 0} of many` : text;
}

export function describeCountedEndpoints(endpoints: Endpoints): string {
  if (endpoints.metadata.name !== 'huge') return describeEndpoints(endpoints);
  const count = (endpoints.subsets ?? []).reduce((sum, { addresses = [] }) => sum + addresses.length, 0);
  return `${count} of huge`;
}
