import type { Cached, CoreEvent, Endpoints, EndpointSlice } from '../../api/index.ts';
import { age, type Column } from './column.ts';

type Row<T> = Omit<Column, 'cell'> & { cell(object: Cached<T>, nowMs: number): unknown };

/** As many as fit beside the other columns. */
const shown = 3;

function shorten(all: readonly string[], hidden: number): string {
  if (all.length === 0) return '<none>';
  return hidden > 0 ? `${all.join(',')} + ${hidden} more...` : all.join(',');
}

export function endpointsText({ subsets = [] }: Cached<Endpoints>): string {
  const all = subsets.flatMap(({ addresses = [], ports = [] }) =>
    ports.length === 0
      ? addresses.map(({ ip }) => ip)
      : ports.flatMap(({ port }) =>
          addresses.map(({ ip }) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)),
        ),
  );
  return shorten(all.slice(0, shown), all.length - shown);
}

export const endpointSliceColumns: readonly Row<EndpointSlice>[] = [
  { name: 'AddressType', cell: ({ addressType }) => addressType },
  { name: 'Ports', cell: slicePorts },
  { name: 'Endpoints', cell: sliceAddresses },
];

function slicePorts({ ports }: Cached<EndpointSlice>): string {
  const all = ports ?? [];
  if (all.length === 0) return '<unset>';
  const texts = all.map(({ port, name }) =>
    port === undefined ? (name === '' || name === undefined ? '*' : name) : String(port),
  );
  return shorten(texts.slice(0, shown), texts.length - shown);
}

function sliceAddresses({ endpoints }: Cached<EndpointSlice>): string {
  const all = (endpoints ?? []).flatMap(({ addresses }) => addresses);
  return all.length === 0 ? '<unset>' : shorten(all.slice(0, shown), all.length - shown);
}

export const eventColumns: readonly Row<CoreEvent>[] = [
  { name: 'Last Seen', cell: lastSeen },
  { name: 'Type', cell: ({ type }) => type },
  { name: 'Reason', cell: ({ reason }) => reason },
  {
    name: 'Object',
    cell: ({ involvedObject: { kind = '', name } }) => (name === undefined ? kind : `${kind.toLowerCase()}/${name}`),
  },
  { name: 'Subobject', priority: 1, cell: ({ involvedObject }) => involvedObject.fieldPath ?? '' },
  { name: 'Source', priority: 1, cell: source },
  { name: 'Message', cell: ({ message }) => (message ?? '').trim() },
  { name: 'First Seen', priority: 1, cell: (event, nowMs) => age(event.firstTimestamp ?? event.eventTime, nowMs) },
  { name: 'Count', priority: 1, cell: ({ series, count }) => String(series?.count ?? Math.max(1, count ?? 1)) },
  { name: 'Name', format: 'name', priority: 1, cell: ({ metadata }) => metadata.name },
];

function lastSeen({ series, lastTimestamp, firstTimestamp, eventTime }: Cached<CoreEvent>, nowMs: number): string {
  const last = series?.lastObservedTime ?? lastTimestamp ?? firstTimestamp ?? eventTime;
  return age(last, nowMs);
}

function source({ source: from, reportingComponent }: Cached<CoreEvent>): string {
  const texts = [from?.component ?? reportingComponent ?? '', from?.host ?? ''].filter((text) => text !== '');
  return texts.join(', ');
}
