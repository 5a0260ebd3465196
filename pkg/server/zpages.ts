import { dump } from 'js-yaml';
import { parseAccept } from './accept.ts';
import type { MediaRange } from './accept.ts';
import { encodeCbor } from './cbor.ts';
import type { CborValue } from './cbor.ts';
import type { StatusOptions } from './options.ts';
import { jsonAnswer, textAnswer } from './responses.ts';
import type { Answer } from './responses.ts';

const component = 'kube-controller-manager';
const apiGroup = 'config.k8s.io';

type Encoding = 'json' | 'yaml' | 'cbor';
type Version = 'v1alpha1' | 'v1beta1';

/** The form of a page: text for people, or an object of a known version. */
export type Form =
  | { readonly kind: 'text' }
  | { readonly kind: 'object'; readonly encoding: Encoding; readonly version: Version; readonly pretty: boolean }
  /** `encoding` is the encoding of the error. Absent if the client accepts none that is served. */
  | { readonly kind: 'unacceptable'; readonly encoding: Encoding | undefined };

/** The form that a request accepts. */
export interface PageRequest {
  readonly accept: string;
  readonly pretty: boolean;
  /** The gate CBORServingAndStorage: CBOR is served too. */
  readonly cbor: boolean;
}

const jsonAndYaml: readonly Encoding[] = ['json', 'yaml'];

/** In the order of preference for a wildcard. */
function mediaTypes(cbor: boolean): readonly (Encoding | 'text')[] {
  return [...jsonAndYaml, 'text', ...(cbor ? (['cbor'] as const) : [])];
}

/** Negotiates like the Go binary: an object needs kind, version and group in the Accept header, text must not have them. */
export function selectForm({ accept, cbor }: PageRequest, kind: 'Flagz' | 'Statusz'): Form {
  if (accept.trim() === '') return { kind: 'text' };
  const ranges = parseAccept(accept);
  for (const range of ranges) {
    for (const type of mediaTypes(cbor).filter((each) => includes(range, each))) {
      const form = formOf(range, type, kind);
      if (form !== undefined) return form;
    }
  }
  const bare = ranges.filter(({ parameters }) => !structureParameters.some((name) => parameters.has(name)));
  const encodings = bare.flatMap((range) => mediaTypes(cbor).filter((type) => includes(range, type)));
  return { kind: 'unacceptable', encoding: encodings.find((type) => type !== 'text') };
}

const structureParameters = ['as', 'v', 'g', 'stream', 'sv'];

function formOf({ parameters }: MediaRange, type: Encoding | 'text', kind: string): Form | undefined {
  if (parameters.has('stream') || parameters.has('sv')) return undefined;
  if (type === 'text') return ['as', 'v', 'g'].some((name) => parameters.has(name)) ? undefined : { kind: 'text' };
  const version = parameters.get('v');
  if (parameters.get('as') !== kind || parameters.get('g') !== apiGroup) return undefined;
  if (version !== 'v1alpha1' && version !== 'v1beta1') return undefined;
  return { kind: 'object', encoding: type, version, pretty: parameters.get('pretty') === '1' };
}

function includes(range: MediaRange, type: Encoding | 'text'): boolean {
  const [main, sub] = type === 'text' ? ['text', 'plain'] : ['application', type];
  if (range.type === '*') return range.subtype === '*';
  return range.type === main && (range.subtype === '*' || range.subtype === sub);
}

export function flagzPage(flags: Readonly<Record<string, string>>, request: PageRequest): Answer {
  const lines = Object.keys(flags)
    .sort()
    .map((name) => `${name}=${flags[name] ?? ''}\n`);
  return page({ kind: 'Flagz', text: lines.join(''), content: { flags } }, request);
}

export interface StatusFacts extends StatusOptions {
  readonly nowMs: number;
  readonly paths: readonly string[];
}

export function statuszPage(facts: StatusFacts, request: PageRequest): Answer {
  const { startedAtMs, binaryVersion, emulationVersion, runtimeVersion } = facts;
  const paths = firstSegments(facts.paths);
  const uptimeSeconds = Math.max(0, Math.floor((facts.nowMs - startedAtMs) / 1000));
  const text = [
    '',
    `Started: ${formatUnixDate(startedAtMs)}`,
    `Up: ${formatUptime(uptimeSeconds)}`,
    `Runtime version: ${runtimeVersion}`,
    `Binary version: ${binaryVersion}`,
    ...(emulationVersion === '' ? [] : [`Emulation version: ${emulationVersion}`]),
    `Paths: ${paths.join(' ')}`,
    '',
  ].join('\n');
  const content = {
    startTime: new Date(startedAtMs).toISOString().replace(/\.\d+Z$/, 'Z'),
    uptimeSeconds,
    goVersion: runtimeVersion, // the API calls this field goVersion
    binaryVersion,
    ...(emulationVersion !== '' && { emulationVersion }),
    paths,
  };
  return page({ kind: 'Statusz', text, content }, request);
}

interface Page {
  readonly kind: 'Flagz' | 'Statusz';
  readonly text: string;
  readonly content: { readonly [key: string]: CborValue };
}

function page({ kind, text, content }: Page, request: PageRequest): Answer {
  const form = selectForm(request, kind);
  switch (form.kind) {
    case 'text':
      return textAnswer(200, `\n${component} ${kind.toLowerCase()}\n${warning}\n${text}`);
    case 'object': {
      const { encoding, version } = form;
      const type = { kind, apiVersion: `${apiGroup}/${version}` };
      const body = encode(
        { ...type, metadata: { name: component }, ...content },
        encoding,
        form.pretty || request.pretty,
      );
      const headers = { 'Content-Type': `application/${encoding};g=${apiGroup};v=${version};as=${kind}` };
      if (version === 'v1beta1') return { code: 200, headers, body };
      const advice = `This version of the ${kind.toLowerCase()} endpoint is deprecated. Please use a newer version.`;
      return { code: 200, headers: { ...headers, Warning: `299 - "${advice}"` }, body };
    }
    case 'unacceptable': {
      const { encoding = 'json' } = form;
      const body = encode(notAcceptable(request.cbor), encoding, form.encoding === undefined || request.pretty);
      return { code: 406, headers: { 'Content-Type': `application/${encoding}` }, body };
    }
  }
}

function encode(value: CborValue, encoding: Encoding, pretty: boolean): string | Buffer {
  switch (encoding) {
    case 'json':
      return jsonAnswer(200, value, pretty).body;
    case 'yaml':
      return dump(value, { sortKeys: true });
    case 'cbor':
      return encodeCbor(value);
  }
}

const warning =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';

function notAcceptable(cbor: boolean): CborValue {
  const types = mediaTypes(cbor).map((type) => (type === 'text' ? 'text/plain' : `application/${type}`));
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `only the following media types are accepted: ${types.join(', ')}`,
    reason: 'NotAcceptable',
    code: 406,
  };
}

/** `/debug/pprof/heap` and `/debug/flags/v` are both `/debug`. */
export function firstSegments(paths: readonly string[]): readonly string[] {
  const segments = paths.map((path) => path.split('/')[1] ?? '').filter((segment) => segment !== '');
  return [...new Set(segments.map((segment) => `/${segment}`))].sort();
}

export function formatUptime(seconds: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`;
}

/** `Mon Nov  2 15:04:05 UTC 2026` */
export function formatUnixDate(ms: number): string {
  // toUTCString gives `Mon, 02 Nov 2026 15:04:05 GMT`.
  const [weekday = '', day = '', month = '', year = '', time = ''] = new Date(ms).toUTCString().split(' ');
  return `${weekday.replace(',', '')} ${month} ${day.replace(/^0/, ' ')} ${time} UTC ${year}`;
}
