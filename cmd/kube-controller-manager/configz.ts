import { formatValue } from '../../pkg/flags/index.ts';
import { formatDuration } from '../../pkg/time/index.ts';
import { configApiVersion, configKind } from './config-file.ts';
import type { Options } from './options.ts';

/** The name under which the Go binary publishes its configuration. */
export const configzName = 'kubecontrollermanager.config.k8s.io';

type Section = { [field: string]: unknown };

type Settings = Pick<Options, 'allFlags' | 'values'>;

/** Every setting by its path in a configuration file. The result is a valid configuration file: durations are text. */
export function describeConfig({ allFlags, values }: Settings): Readonly<Record<string, unknown>> {
  const root: Section = { kind: configKind, apiVersion: configApiVersion };
  for (const [name, { config, type }] of allFlags) {
    if (config === undefined) continue;
    const value = values.get(name);
    const path = config.split('.');
    const field = path.pop() ?? '';
    let section = root;
    for (const part of path) section = subsection(section, part);
    section[field] = type === 'duration' && typeof value === 'number' ? formatDuration(value) : value;
  }
  return root;
}

function subsection(section: Section, name: string): Section {
  const existing = section[name];
  if (isSection(existing)) return existing;
  const created: Section = {};
  section[name] = created;
  return created;
}

function isSection(value: unknown): value is Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every flag and its value, for /flagz. Files are named, never shown. */
export function describeFlags({ allFlags, values }: Settings): Readonly<Record<string, string>> {
  return Object.fromEntries([...allFlags].map(([name, { type }]) => [name, formatValue(type, values.get(name))]));
}
