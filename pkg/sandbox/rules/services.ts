import { type Service, type UntypedObject } from '../../api/index.ts';
import { invalid, type FieldError } from '../failure.ts';
import { validateLabels } from './metadata.ts';
import { labelProblem, subdomainProblem } from './names.ts';
import { validatePort } from './ports.ts';
import { defineRules, invalidValue, required, unsupported, type WriteContext } from './rules.ts';

const subject = { group: '', resource: 'services', kind: 'Service' };
const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const nodePorts = { first: 30_000, count: 2768 };

export const serviceRules = defineRules<Service>({
  returnsDeleted: true,
  nameProblem: labelProblem,
  defaults({ spec }) {
    spec.type ??= 'ClusterIP';
    spec.sessionAffinity ??= 'None';
    if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
    if (spec.sessionAffinity === 'ClientIP') {
      spec.sessionAffinityConfig ??= {};
      spec.sessionAffinityConfig.clientIP ??= {};
      spec.sessionAffinityConfig.clientIP.timeoutSeconds ??= 10_800;
    }
    for (const port of spec.ports ?? []) {
      port.protocol ??= 'TCP';
      if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port;
    }
    const isExternal = spec.type === 'NodePort' || spec.type === 'LoadBalancer';
    if (isExternal) spec.externalTrafficPolicy ??= 'Cluster';
    if (isExternal || spec.type === 'ClusterIP') spec.internalTrafficPolicy ??= 'Cluster';
    if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true;
  },
  beforeStatusUpdate({ spec, status }) {
    if (status === undefined) return;
    if (spec.type !== 'LoadBalancer') status.loadBalancer = {};
    for (const ingress of status.loadBalancer?.ingress ?? []) if (ingress.ip !== undefined) ingress.ipMode ??= 'VIP';
  },
  beforeCreate(service, context) {
    service.status = { loadBalancer: {} };
    allocate(service, context);
  },
  beforeUpdate(service, old, context) {
    keepAllocated(service, old);
    allocate(service, context);
  },
  validate: validateService,
  validateUpdate({ spec }, { spec: old }) {
    const had = old.clusterIP ?? '';
    const isKept = had === '' || old.type === 'ExternalName' || spec.type === 'ExternalName' || spec.clusterIP === had;
    return isKept ? [] : [invalidValue('spec.clusterIPs[0]', [spec.clusterIP], 'may not change once set')];
  },
});

/** A client that leaves out an allocated value keeps it. */
function keepAllocated({ spec }: Service, { spec: old }: Service): void {
  if (spec.type === 'ExternalName' || old.type === 'ExternalName') return;
  spec.clusterIP ??= old.clusterIP;
  spec.clusterIPs ??= old.clusterIPs;
  spec.ipFamilies ??= old.ipFamilies;
  spec.ipFamilyPolicy ??= old.ipFamilyPolicy;
  if (spec.type === 'ClusterIP') return;
  for (const port of spec.ports ?? []) {
    const before = (old.ports ?? []).find((each) => each.port === port.port && each.protocol === port.protocol);
    port.nodePort ??= before?.nodePort;
  }
}

function allocate(service: Service, context: WriteContext): void {
  const { spec } = service;
  if (spec.type === 'ExternalName') {
    for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const) delete spec[field];
    return;
  }
  const isHeadless = spec.clusterIP === 'None';
  const withoutPods = isHeadless && Object.keys(spec.selector ?? {}).length === 0;
  // The endpoints of such a Service are written by hand, and may be of either family.
  spec.ipFamilyPolicy ??= withoutPods ? 'RequireDualStack' : 'SingleStack';
  spec.ipFamilies ??= withoutPods && spec.ipFamilyPolicy === 'RequireDualStack' ? ['IPv4', 'IPv6'] : ['IPv4'];
  spec.clusterIP ??= spec.clusterIPs?.[0] ?? freeAddress(context);
  requireFree(service, spec.clusterIP, context);
  spec.clusterIPs ??= [spec.clusterIP];
  const wantsNodePorts =
    spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);
  const isLoadBalancer = spec.type === 'LoadBalancer';
  if (!wantsNodePorts && !isLoadBalancer) for (const port of spec.ports ?? []) delete port.nodePort;
  if (!wantsNodePorts) return;
  const taken = new Set([...nodePortsInUse(service, context), ...(spec.ports ?? []).map(({ nodePort }) => nodePort)]);
  for (const port of spec.ports ?? []) {
    if (port.nodePort !== undefined) continue;
    let candidate = Math.floor(context.random() * nodePorts.count);
    while (taken.has(nodePorts.first + candidate)) candidate = (candidate + 1) % nodePorts.count;
    port.nodePort = nodePorts.first + candidate;
    taken.add(port.nodePort);
  }
}

function* others(service: Service, context: WriteContext): Generator<Service> {
  for (const each of context.list('services')) {
    if (each.metadata.uid !== service.metadata.uid) yield asService(each);
  }
}

/** The store keeps only Services under `services`. */
function asService(object: UntypedObject): Service {
  return object as unknown as Service;
}

function* nodePortsInUse(service: Service, context: WriteContext): Generator<number> {
  for (const { spec } of others(service, context)) {
    for (const { nodePort } of spec.ports ?? []) if (nodePort !== undefined) yield nodePort;
  }
}

/** An address of 10.96.0.0/16. The first one belongs to the API server itself. */
function freeAddress(context: WriteContext): string {
  const taken = new Set<string>();
  for (const each of context.list('services')) taken.add(asService(each).spec.clusterIP ?? '');
  let candidate = 2 + Math.floor(context.random() * 65_000);
  for (;;) {
    const address = `10.96.${candidate >> 8}.${candidate & 0xff}`;
    if (!taken.has(address)) return address;
    candidate = candidate >= 65_534 ? 2 : candidate + 1;
  }
}

function requireFree(service: Service, address: string, context: WriteContext): void {
  if (address === 'None') return;
  for (const { spec } of others(service, context)) {
    if (spec.clusterIP !== address) continue;
    const detail = `failed to allocate IP ${address}: provided IP is already allocated`;
    throw invalid(subject, service.metadata.name, [invalidValue('spec.clusterIPs', [address], detail)]);
  }
}

function validateService({ spec }: Service): FieldError[] {
  const { type = '', ports = [], selector, sessionAffinity = '' } = spec;
  if (!types.includes(type)) return [unsupported('spec.type', type, types)];
  const isHeadless = spec.clusterIP === 'None';
  const errors: FieldError[] = [];
  if (type === 'ExternalName') errors.push(...validateExternalName(spec.externalName));
  else if (ports.length === 0 && !isHeadless) errors.push(required('spec.ports'));
  if (isHeadless && (type === 'NodePort' || type === 'LoadBalancer')) {
    errors.push(invalidValue('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`));
  }
  const affinities = ['ClientIP', 'None'];
  return [
    ...errors,
    ...validatePorts(ports),
    ...validateLabels(selector, 'spec.selector'),
    ...(affinities.includes(sessionAffinity) ? [] : [unsupported('spec.sessionAffinity', sessionAffinity, affinities)]),
  ];
}

/** A CNAME, which may end in a dot. */
function validateExternalName(externalName = ''): FieldError[] {
  const name = externalName.replace(/\.$/, '');
  if (name === '') return [required('spec.externalName')];
  const problem = subdomainProblem(name);
  return problem === undefined ? [] : [invalidValue('spec.externalName', name, problem)];
}

function validatePorts(ports: NonNullable<Service['spec']['ports']>): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  const protocols = ['SCTP', 'TCP', 'UDP'];
  for (const [index, { name = '', port, protocol, targetPort }] of ports.entries()) {
    const field = `spec.ports[${index}]`;
    const problem = name === '' ? undefined : labelProblem(name);
    if (ports.length > 1 && name === '') errors.push(required(`${field}.name`));
    if (problem !== undefined) errors.push(invalidValue(`${field}.name`, name, problem));
    if (name !== '' && names.has(name))
      errors.push({ type: 'Duplicate', field: `${field}.name`, value: name, detail: '' });
    names.add(name);
    errors.push(...validatePort(port, `${field}.port`));
    if (!protocols.includes(protocol ?? '')) errors.push(unsupported(`${field}.protocol`, protocol, protocols));
    if (typeof targetPort === 'number') errors.push(...validatePort(targetPort, `${field}.targetPort`));
  }
  return errors;
}
