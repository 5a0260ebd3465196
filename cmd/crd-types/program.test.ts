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

  for (const [name, text, argv, says] of [
    ['no file', '', [], 'Usage: crd-types FILE'],
    ['a file without a definition', 'kind: Namespace', ['a'], 'a has 0 CustomResourceDefinitions'],
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
