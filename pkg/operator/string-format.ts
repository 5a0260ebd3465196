import * as z from 'zod';

import { DefinitionError } from './definition-error.ts';
import { re2PatternOf } from './re2-pattern.ts';

/** zod's formats that kube-apiserver checks as well, and how it calls them. */
const formats = new Map(
  Object.entries({
    base64: 'byte',
    date: 'date',
    datetime: 'date-time',
    email: 'email',
    guid: 'uuid',
    hostname: 'hostname',
    ipv4: 'ipv4',
    ipv6: 'ipv6',
    mac: 'mac',
    url: 'uri',
    uuid: 'uuid',
  }),
);

/** The versions of UUIDs that kube-apiserver tells apart. */
const uuidFormats = new Map(Object.entries({ v3: 'uuid3', v4: 'uuid4', v5: 'uuid5' }));

/** The patterns that a format of kube-apiserver stands for. Another pattern is checked as well. */
const impliedPatterns = new Map<string, (check: z.core.$ZodStringFormatDef) => RegExp>(
  Object.entries({
    date: () => z.regexes.date,
    datetime: (check) => z.regexes.datetime({ offset: ownOption(check, 'offset') === true }),
    email: () => z.regexes.email,
    ipv4: () => z.regexes.ipv4,
    ipv6: () => z.regexes.ipv6,
    mac: () => z.regexes.mac(),
    uuid: () => z.regexes.uuid(),
  }),
);

/** All formats of strings that kube-apiserver checks. */
export const knownFormats: ReadonlySet<string> = new Set([
  ...formats.values(),
  ...'bsonobjectid cidr creditcard duration hexcolor isbn isbn10 isbn13 k8s-long-name k8s-short-name password'.split(
    ' ',
  ),
  ...'rgbcolor ssn uuid3 uuid4 uuid5'.split(' '),
]);

interface StringChecks {
  readonly format?: string;
  readonly pattern?: string;
  readonly allOf?: readonly { readonly pattern: string }[];
}

/** The format and the patterns of a string. Throws a `DefinitionError` for what the API server cannot check. */
export function stringChecks({ _zod: { def } }: z.core.$ZodString, path: string): StringChecks {
  let format: string | undefined;
  const patterns: string[] = [];
  for (const check of [def, ...(def.checks ?? []).map((each) => each._zod.def)]) {
    if (!isStringFormat(check)) continue;
    refuseOptions(check, path);
    const known = isStrict(check) ? formatOf(check) : undefined;
    const isFormat = known !== undefined && format === undefined;
    if (isFormat) format = known;
    if (!isFormat || !isImplied(check, known)) patterns.push(re2Pattern(regExpOf(check, path), path));
  }
  const [pattern, ...more] = patterns;
  return {
    ...(format !== undefined && { format }),
    ...(pattern !== undefined && more.length === 0 && { pattern }),
    ...(more.length > 0 && { allOf: patterns.map((each) => ({ pattern: each })) }),
  };
}

/** The pattern as the API server reads it. */
export function re2Pattern(given: RegExp, path: string): string {
  const made = re2PatternOf(given);
  if ('pattern' in made) return made.pattern;
  throw new DefinitionError(`${path}: the API server's patterns (RE2) cannot have ${made.refused}: ${String(given)}`);
}

function formatOf(check: z.core.$ZodStringFormatDef): string | undefined {
  const version = ownOption(check, 'version');
  return (typeof version === 'string' ? uuidFormats.get(version) : undefined) ?? formats.get(check.format);
}

/** Whether values of the format match the pattern of its author, too. */
function isImplied(check: z.core.$ZodStringFormatDef, format: string): boolean {
  const implied = impliedPatterns.get(check.format)?.(check);
  if (check.pattern === undefined || implied === undefined || [...uuidFormats.values()].includes(format)) return true;
  return String(check.pattern) === String(implied);
}

function isStringFormat(check: object): check is z.core.$ZodStringFormatDef {
  return 'check' in check && check.check === 'string_format';
}

function refuseOptions(check: z.core.$ZodStringFormatDef, path: string): void {
  if (check.format === 'duration') {
    const advice = "use z.string().meta({ format: 'duration' }), which is as in Go";
    throw new DefinitionError(`${path}: the API server cannot check ISO 8601 durations: ${advice}`);
  }
  for (const option of ['hostname', 'protocol', 'normalize'] as const) {
    if (ownOption(check, option) === undefined) continue;
    throw new DefinitionError(`${path}: the API server cannot check the ${option} of a URL: use regex()`);
  }
}

function ownOption(check: object, name: string): unknown {
  return Object.entries(check).find(([key, value]) => key === name && value !== false)?.[1];
}

/** Times without a zone, or without seconds, are no date-time for the API server. */
function isStrict(check: z.core.$ZodStringFormatDef): boolean {
  return ownOption(check, 'local') === undefined && ownOption(check, 'precision') !== -1;
}

function regExpOf({ format, pattern }: z.core.$ZodStringFormatDef, path: string): RegExp {
  if (format === 'base64url') return z.regexes.base64url; // zod's own pattern leaves its length to code
  if (format === 'base64') return z.regexes.base64;
  if (pattern === undefined) throw new DefinitionError(`${path}: the API server cannot check the format ${format}`);
  return pattern;
}
