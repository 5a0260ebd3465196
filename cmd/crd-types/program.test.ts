import { loadAll } from 'js-yaml';
import { describe, expect, test } from 'vitest';

import { runCrdTypes } from './program.ts';

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { kind: Widget, plural: widgets }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: { type: object, required: [size], properties: { size: { type: integer, description: How big. } } }
`;

function run(text: string, ...argv: readonly string[]): { exitCode: number; stdout: string; stderr: string } {
  let stdout = '';
  let stderr = '';
  const deps = {
    read: () => text,
    stdout: (line: string) => (stdout += line),
    stderr: (line: string) => (stderr += line),
  };
  const exitCode = runCrdTypes(argv, deps);
  return { exitCode, stdout, stderr };
}

describe('crd-types', () => {
  test('writes types for the definition among other documents', () => {
    const { exitCode, stdout } = run(`kind: Namespace\n---${definition}`, 'file.yaml');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('export interface Widget extends KubeObject {');
    expect(stdout).toContain('    /** How big. */\n    size: number;');
  });

  const gadgets = definition.replaceAll('idget', 'adget');
  const ofOthers = definition.replaceAll('example.com', 'other-group.org');
  const exported = (text: string): string[] =>
    [...text.matchAll(/^export (?:const|interface) (\w+)/gm)].map(([, name = '']) => name);

  test('writes the types of all definitions of a file into one module', () => {
    const { stdout } = run(`${definition}---${gadgets}`, 'file.yaml');
    expect(exported(stdout)).toEqual(['Widget', 'Widgets', 'Wadget', 'Wadgets']);
    expect(stdout.match(/^import /gm)).toHaveLength(1);
    expect(stdout).toContain('from widgets.example.com, wadgets.example.com.');
  });

  test('names the group of kinds that several groups have', () => {
    const { stdout } = run(`${definition}---${gadgets}---${ofOthers}`, 'file.yaml');
    expect(exported(stdout)).toEqual(
      'ExampleWidget ExampleWidgets Wadget Wadgets OtherGroupWidget OtherGroupWidgets'.split(' '),
    );
  });

  test('writes only the definitions that are named, also of a List', () => {
    const items = [definition, gadgets, ofOthers].map((text) => loadAll(text)[0]);
    const list = JSON.stringify({ kind: 'List', items });
    const { stdout } = run(list, '-', 'wadgets.example.com', 'widgets.other-group.org');
    expect(exported(stdout)).toEqual(['Wadget', 'Wadgets', 'Widget', 'Widgets']);
  });

  for (const [name, text, argv, says] of [
    ['no file', '', [], 'Usage: crd-types FILE'],
    ['a file without a definition', 'kind: Namespace', ['a'], 'a has no CustomResourceDefinition\n'],
    ['a name that the file does not have', definition, ['a', 'b.c'], 'a has no CustomResourceDefinition b.c\n'],
    ['a definition twice', `${definition}---${definition}`, ['a'], 'two definitions would have the type ExampleWidget'],
    ['a file that is not YAML', 'a: [', ['a'], 'crd-types: '],
    ['a definition that is incomplete', 'kind: CustomResourceDefinition', ['a'], 'not a CustomResourceDefinition'],
  ] as const) {
    test(`refuses ${name}`, () => {
      const { exitCode, stderr } = run(text, ...argv);
      expect(exitCode).not.toBe(0);
      expect(stderr).toContain(says);
    });
  }
});
