import { ownValue } from '../../api/index.ts';
import { Failure } from '../failure.ts';

/** The form of an object in a response. */
export type Representation = 'object' | 'metadata' | 'table';

export interface Negotiated {
  readonly representation: Representation;
  readonly format: 'json' | 'yaml';
}

const byKind: Readonly<Record<string, Representation>> = {
  Table: 'table',
  PartialObjectMetadata: 'metadata',
  PartialObjectMetadataList: 'metadata',
};

/** The first form that the client accepts and the server has. Throws 406 when there is none. */
export function negotiate(accept: string | undefined): Negotiated {
  if (accept === undefined || accept.trim() === '') return { representation: 'object', format: 'json' };
  for (const clause of accept.split(',')) {
    const [type = '', ...parameters] = clause.split(';').map((part) => part.trim());
    const format = formatOf(type);
    if (format === undefined) continue;
    const values = new Map(parameters.map((each) => each.split('=', 2) as [string, string | undefined]));
    const wanted = values.get('as');
    if (wanted === undefined) return { representation: 'object', format };
    const representation = ownValue(byKind, wanted);
    const isKnown = values.get('g') === 'meta.k8s.io' && (values.get('v') === 'v1' || values.get('v') === 'v1beta1');
    if (representation !== undefined && isKnown) return { representation, format };
  }
  const message = 'only the following media types are accepted: application/json, application/yaml';
  throw new Failure(406, 'NotAcceptable', message);
}

function formatOf(type: string): Negotiated['format'] | undefined {
  if (type === 'application/json' || type === '*/*' || type === 'application/*') return 'json';
  return type === 'application/yaml' ? 'yaml' : undefined;
}
