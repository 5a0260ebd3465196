import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { parseCommandLine } from '../cmd/kube-controller-manager/command.ts';
import { exitCodes, StartupError } from '../cmd/kube-controller-manager/exit-codes.ts';
import { collectFlags, processFlags } from '../cmd/kube-controller-manager/flags/index.ts';
import { cloudControllers, controllersNotBuilt } from '../cmd/kube-controller-manager/not-built/index.ts';
import { resolveOptions } from '../cmd/kube-controller-manager/options.ts';
import { controllers } from '../controllers/registry.ts';

function read(path: string): string {
  return readFileSync(join(import.meta.dirname, '..', path), 'utf8');
}

/** The text from `start` to `end`. Fails if the document has no such place. */
function part(document: string, start: string, end: string): string {
  const from = document.indexOf(start);
  const to = document.indexOf(end, from + start.length);
  if (from < 0 || to < 0) throw new Error(`no text from "${start}" to "${end}"`);
  return document.slice(from + start.length, to);
}

/** Everything between backquotes. */
function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, content = '']) => content);
}

const readme = read('README.md');
const processDocument = read('docs/process.md');
const allFlags = collectFlags(controllers);

describe('the README', () => {
  test('lists the controllers that are built', () => {
    const listed = quoted(part(readme, '\nBuilt: ', '\n\n'));
    expect(listed.sort()).toEqual(controllers.map(({ name }) => name).sort());
  });

  test('lists the controllers that are not built, but those of cloud providers', () => {
    const cloud = new Set(cloudControllers.map(({ name }) => name));
    const listed = quoted(part(readme, '\nNot built yet: ', '\n\n'));
    const expected = controllersNotBuilt.map(({ name }) => name).filter((name) => !cloud.has(name));
    expect(listed.sort()).toEqual(expected.sort());
  });

  test('lists the flags that the Go binary does not have', () => {
    const items = part(readme, 'Flags that the Go binary does not have:\n', '\n### ').matchAll(/^- `--([\w-]+)/gm);
    const own = [...allFlags].filter(([, flag]) => flag.own === true).map(([name]) => name);
    expect([...items].map(([, name]) => name)).toEqual(own);
  });
});

describe('docs/process.md', () => {
  test('lists every exit code', () => {
    const rows = [...part(processDocument, '| Exit code', '\n\n').matchAll(/^\| (\d+) /gm)];
    expect(rows.map(([, code]) => Number(code))).toEqual(Object.values(exitCodes));
  });

  test('lists the flags of the process that have no effect', () => {
    const listed = quoted(part(processDocument, '**Without effect**', '\n- **'));
    const without = Object.entries(processFlags).filter(
      ([, flag]) => 'noEffect' in flag && flag.noEffect !== undefined,
    );
    expect(listed.sort()).toEqual(without.map(([name]) => `--${name}`).sort());
  });

  test('lists flags that are refused', () => {
    const refused = quoted(part(processDocument, '**Refused**', '\n- **')).filter((text) => text.startsWith('--'));
    expect(refused.length).toBeGreaterThan(0);
    for (const argument of refused) {
      const line = parseCommandLine([argument], controllers);
      expect(line.kind).toBe('run');
      expect(() => line.kind === 'run' && resolveOptions(line.given, controllers), argument).toThrow(StartupError);
    }
  });
});

test('the README and docs/process.md name no flag of the manager that does not exist', () => {
  const mentioned = [
    ...quoted(part(readme, '\n## Flags\n', '\n## Metrics')),
    ...quoted(part(processDocument, '\n## Flags\n', '\n## Looking inside')),
  ].flatMap((text) => [...text.matchAll(/(?:^|\s)--([a-z][\w-]*)/g)].map(([, name = '']) => name));
  const placeholders = ['flag', 'help'];
  expect(mentioned.filter((name) => !allFlags.has(name) && !placeholders.includes(name))).toEqual([]);
});
