import { loadAll } from 'js-yaml';

import { typeSource } from '../../pkg/operator/index.ts';

export interface CrdTypesDeps {
  /** The text of a file. Throws if it cannot be read. */
  readonly read: (path: string) => string;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

const usage = `Usage: crd-types FILE [NAME...]

Writes TypeScript types for the CustomResourceDefinitions in a file of YAML or JSON to stdout; "-" reads from stdin. With
names, such as certificates.cert-manager.io, only for those:

  kubectl get crd certificates.cert-manager.io -o yaml | crd-types - > certificates.ts
`;

/** Returns the exit code. */
export function runCrdTypes(argv: readonly string[], { read, stdout, stderr }: CrdTypesDeps): number {
  const [path, ...names] = argv;
  if (path === undefined || path === '--help') {
    (path === '--help' ? stdout : stderr)(usage);
    return path === '--help' ? 0 : 2;
  }
  try {
    const definitions = loadAll(read(path)).flatMap(itemsOf).filter(isDefinition);
    const known = definitions.map(nameOf);
    const missing = names.filter((name) => !known.includes(name));
    if (definitions.length === 0 || missing.length > 0) {
      stderr(`crd-types: ${path} has no CustomResourceDefinition${missing.map((name) => ` ${name}`).join(',')}\n`);
      return 1;
    }
    stdout(typeSource(names.length === 0 ? definitions : definitions.filter((each) => names.includes(nameOf(each)))));
    return 0;
  } catch (error) {
    stderr(`crd-types: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

/** `kubectl get` of several objects writes a List. */
function itemsOf(document: unknown): readonly unknown[] {
  return isFields(document) && document['kind'] === 'List' && Array.isArray(document['items'])
    ? document['items']
    : [document];
}

function isDefinition(document: unknown): boolean {
  return isFields(document) && document['kind'] === 'CustomResourceDefinition';
}

function nameOf(definition: unknown): string {
  const metadata = isFields(definition) ? definition['metadata'] : undefined;
  const name = isFields(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' ? name : '';
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
