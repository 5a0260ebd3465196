import type { StatusOptions } from './options.ts';
import { jsonAnswer, textAnswer } from './responses.ts';
import type { Answer } from './responses.ts';

const component = 'kube-controller-manager';
const apiGroup = 'config.k8s.io';

/** How a client wants one of these pages: words for people, or an object of a known version for programs. */
export type Form =
  | { readonly kind: 'text' }
  | { readonly kind: 'object'; readonly version: 'v1alpha1' | 'v1beta1' }
  | { readonly kind: 'unacceptable' };

/** Reads an Accept header, first match wins. An object must be asked for by kind, version and group. */
export function selectForm(accept: string, kind: 'Flagz' | 'Statusz'): Form {
  if (accept.trim() === '') return { kind: 'text' };
  for (const clause of accept.split(',')) {
    const [type = '', ...pairs] = clause.split(';').map((part) => part.trim());
    const parameters = new Map(pairs.map((pair) => [pair.split('=')[0] ?? '', pair.split('=')[1] ?? '']));
    const isObject = parameters.has('as') || parameters.has('v') || parameters.has('g');
    const isText = ['*/*', 'text/*', 'text/plain'].includes(type);
    if (!isObject && isText) return { kind: 'text' };
    const version = parameters.get('v');
    const isKnown = parameters.get('as') === kind && parameters.get('g') === apiGroup;
    const isJson = ['*/*', 'application/*', 'application/json'].includes(type);
    if (isKnown && isJson && (version === 'v1alpha1' || version === 'v1beta1')) return { kind: 'object', version };
  }
  return { kind: 'unacceptable' };
}

export function flagzPage(flags: Readonly<Record<string, string>>, accept: string, pretty: boolean): Answer {
  const lines = Object.keys(flags)
    .sort()
    .map((name) => `${name}=${flags[name] ?? ''}\n`);
  return page({ kind: 'Flagz', accept, pretty, text: lines.join(''), content: { flags } });
}

export interface StatusFacts extends StatusOptions {
  readonly nowMs: number;
  readonly paths: readonly string[];
}

export function statuszPage(facts: StatusFacts, accept: string, pretty: boolean): Answer {
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
    goVersion: runtimeVersion, // the field's name is the API's; ours is another language
    binaryVersion,
    ...(emulationVersion !== '' && { emulationVersion }),
    paths,
  };
  return page({ kind: 'Statusz', accept, pretty, text, content });
}

function page(spec: {
  readonly kind: 'Flagz' | 'Statusz';
  readonly accept: string;
  readonly pretty: boolean;
  readonly text: string;
  readonly content: object;
}): Answer {
  const form = selectForm(spec.accept, spec.kind);
  switch (form.kind) {
    case 'text':
      return textAnswer(200, `\n${component} ${spec.kind.toLowerCase()}\n${warning}\n${spec.text}`);
    case 'object': {
      const type = { kind: spec.kind, apiVersion: `${apiGroup}/${form.version}` };
      const answer = jsonAnswer(200, { ...type, metadata: { name: component }, ...spec.content }, spec.pretty);
      const headers = { 'Content-Type': `application/json;g=${apiGroup};v=${form.version};as=${spec.kind}` };
      if (form.version === 'v1beta1') return { ...answer, headers };
      const advice = `This version of the ${spec.kind.toLowerCase()} endpoint is deprecated. Please use a newer version.`;
      return { ...answer, headers: { ...headers, Warning: `299 - "${advice}"` } };
    }
    case 'unacceptable':
      return jsonAnswer(406, notAcceptable, spec.pretty);
  }
}

const warning =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';

const notAcceptable = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'only the following media types are accepted: application/json, text/plain',
  reason: 'NotAcceptable',
  code: 406,
};

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
