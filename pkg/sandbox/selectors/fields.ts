import { ownValue, type Cached, type UntypedObject } from '../../api/index.ts';
import { badRequest } from '../failure.ts';
import { storageId, type Resource } from '../registry/index.ts';

export type ObjectFilter = (object: Cached<UntypedObject>) => boolean;

const everything: ObjectFilter = () => true;
const always = ['metadata.name', 'metadata.namespace'];

/** The fields that selectors support, beyond name and namespace. */
const selectable: Readonly<Record<string, readonly string[]>> = {
  pods: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
  nodes: ['spec.unschedulable'],
  namespaces: ['status.phase'],
  secrets: ['type'],
  events: [
    'involvedObject.kind',
    'involvedObject.namespace',
    'involvedObject.name',
    'involvedObject.uid',
    'involvedObject.apiVersion',
    'involvedObject.resourceVersion',
    'involvedObject.fieldPath',
    'reason',
    'reportingComponent',
    'source',
    'type',
  ],
  replicationcontrollers: ['status.replicas'],
  'replicasets.apps': ['status.replicas'],
  'jobs.batch': ['status.successful'],
  'certificatesigningrequests.certificates.k8s.io': ['spec.signerName'],
};

/** Fields whose name in a selector is not their path in the object. */
const renamed: Readonly<Record<string, string>> = {
  'status.successful': 'status.succeeded',
  source: 'source.component',
};
const zeros: Readonly<Record<string, string>> = {
  'spec.unschedulable': 'false',
  'spec.hostNetwork': 'false',
  'status.replicas': '0',
  'status.successful': '0',
};

/** Compiles `a=b,c!=d`. Throws 400 for a field that is not supported. */
export function parseFieldSelector(text: string | undefined, resource: Resource): ObjectFilter {
  if (text === undefined || text.trim() === '') return everything;
  const custom = resource.type.kind === 'custom' ? resource.type.custom.selectableFields : [];
  const allowed = new Set([...always, ...(selectable[storageId(resource)] ?? []), ...custom]);
  const filters = text.split(',').map((part): ObjectFilter => {
    const match = /^\s*([^=!\s]+)\s*(==|=|!=)\s*(.*?)\s*$/.exec(part);
    const [, field = '', operator, raw = ''] = match ?? [];
    if (match === null) throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    if (!allowed.has(field)) throw badRequest(`field label not supported: ${field}`);
    const wanted = raw.replaceAll(/\\(.)/g, '$1');
    const path = (ownValue(renamed, field) ?? field).split('.');
    const read = (object: unknown): string => textOf(valueAt(object, path), ownValue(zeros, field) ?? '');
    return operator === '!=' ? (object) => read(object) !== wanted : (object) => read(object) === wanted;
  });
  return (object) => filters.every((filter) => filter(object));
}

function valueAt(object: unknown, path: readonly string[]): unknown {
  let value = object;
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = ownValue(value as Readonly<Record<string, unknown>>, name);
  }
  return value;
}

function textOf(value: unknown, zero: string): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : zero;
}
