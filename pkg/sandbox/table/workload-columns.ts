import {
  formatSelector,
  isConditionTrue,
  parseTime,
  isBeingDeleted,
  type Cached,
  type Container,
  type Job,
  type LabelSelector,
  type Node,
  type Service,
} from '../../api/index.ts';
import { formatAge } from './column.ts';

type Template = { readonly spec?: { readonly containers: readonly Cached<Container>[] } | undefined } | undefined;

export function containerNames(template: Template): string {
  return (template?.spec?.containers ?? []).map(({ name }) => name).join(',');
}

export function containerImages(template: Template): string {
  return (template?.spec?.containers ?? []).map(({ image }) => image ?? '').join(',');
}

/** Labels in the order of their names. */
export function labelsText(labels: Readonly<Record<string, string>> | undefined): string {
  const entries = Object.entries(labels ?? {});
  if (entries.length === 0) return '<none>';
  return entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}

export function selectorText(selector: Cached<LabelSelector> | undefined): string {
  if (selector === undefined) return '<none>';
  const matchLabels = Object.fromEntries(
    Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  const text = formatSelector({ ...selector, matchLabels });
  return text === '' ? '<none>' : text;
}

export function jobStatus({ status, metadata }: Cached<Job>): string {
  const has = (type: string): boolean => isConditionTrue(status?.conditions, type);
  if (has('Complete')) return 'Complete';
  if (has('Failed')) return 'Failed';
  if (isBeingDeleted(metadata)) return 'Terminating';
  if (has('Suspended')) return 'Suspended';
  if (has('FailureTarget')) return 'FailureTarget';
  return has('SuccessCriteriaMet') ? 'SuccessCriteriaMet' : 'Running';
}

export function jobCompletions({ spec, status }: Cached<Job>): string {
  const done = status?.succeeded ?? 0;
  if (spec.completions !== undefined) return `${done}/${spec.completions}`;
  const parallelism = spec.parallelism ?? 0;
  return parallelism > 1 ? `${done}/1 of ${parallelism}` : `${done}/1`;
}

export function jobDuration({ status }: Cached<Job>, nowMs: number): string {
  const startMs = parseTime(status?.startTime);
  return startMs === undefined ? '' : formatAge((parseTime(status?.completionTime) ?? nowMs) - startMs);
}

export function servicePorts({ spec }: Cached<Service>): string {
  const ports = (spec.ports ?? []).map(({ port, nodePort, protocol }) =>
    nodePort === undefined ? `${port}/${protocol}` : `${port}:${nodePort}/${protocol}`,
  );
  return ports.length === 0 ? '<none>' : ports.join(',');
}

export function serviceAddress({ spec, status }: Cached<Service>): string {
  const external = spec.externalIPs ?? [];
  switch (spec.type) {
    case 'ExternalName':
      return spec.externalName ?? '<none>';
    case 'LoadBalancer': {
      const given = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname ?? '');
      const all = [...given, ...external];
      return all.length === 0 ? '<pending>' : all.join(',');
    }
    default:
      return external.length === 0 ? '<none>' : external.join(',');
  }
}

const rolePrefix = 'node-role.kubernetes.io/';

export function nodeRoles({ metadata }: Cached<Node>): string {
  const roles = Object.entries(metadata.labels ?? {}).flatMap(([name, value]) => {
    if (name.startsWith(rolePrefix) && name.length > rolePrefix.length) return [name.slice(rolePrefix.length)];
    return name === 'kubernetes.io/role' && value !== '' ? [value] : [];
  });
  return roles.length === 0 ? '<none>' : [...new Set(roles)].sort().join(',');
}

export function nodeStatus({ spec, status }: Cached<Node>): string {
  const ready = (status?.conditions ?? []).find(({ type }) => type === 'Ready');
  const texts = [ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'];
  if (spec.unschedulable === true) texts.push('SchedulingDisabled');
  return texts.join(',');
}

export function nodeAddress({ status }: Cached<Node>, type: string): string {
  return (status?.addresses ?? []).find((address) => address.type === type)?.address ?? '<none>';
}
