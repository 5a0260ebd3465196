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
    const known = isStrict(check) ? formats.get(check.format) : undefined;
    if (known !== undefined && format === undefined) format = known;
    else patterns.push(re2Pattern(regExpOf(check, path), path));
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
