import { loadAll } from 'js-yaml';

import { typeSource } from '../../pkg/operator/index.ts';

export interface CrdTypesDeps {
  /** The text of a file. Throws if it cannot be read. */
  readonly read: (path: string) => string;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

const usage = `Usage: crd-types FILE

Writes TypeScript types for the CustomResourceDefinition in a file of YAML or JSON to stdout; "-" reads from stdin:

  kubectl get crd certificates.cert-manager.io -o yaml | crd-types - > certificates.ts
`;

/** Returns the exit code. */
export function runCrdTypes(argv: readonly string[], { read, stdout, stderr }: CrdTypesDeps): number {
  const [path] = argv;
  if (path === undefined || argv.length > 1 || path === '--help') {
    (path === '--help' ? stdout : stderr)(usage);
    return path === '--help' ? 0 : 2;
  }
  try {
    const definitions = loadAll(read(path)).filter(isDefinition);
    if (definitions.length !== 1) {
      stderr(`crd-types: ${path} has ${definitions.length} CustomResourceDefinitions; it must have one\n`);
      return 1;
    }
    stdout(typeSource(definitions[0]));
    return 0;
  } catch (error) {
    stderr(`crd-types: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

function isDefinition(document: unknown): boolean {
  return typeof document === 'object' && document !== null && 'kind' in document && document.kind === definitionKind;
}

const definitionKind = 'CustomResourceDefinition';
