import { readFileSync } from 'node:fs';

/** The descriptions of a type and its fields. */
export interface Description {
  readonly type: string | undefined;
  readonly fields: ReadonlyMap<string, string>;
}

const nothing: Description = { type: undefined, fields: new Map() };
const known = new Map<string, Description>();

/**
 * The description of a built-in type, for `kubectl explain`, from the comments in the declarations of the client
 * library. The built library includes them. Without them there are no descriptions.
 */
export function describe(typeName: string): Description {
  let description = known.get(typeName);
  if (description === undefined) {
    const text = readDeclaration(typeName);
    description = text === undefined ? nothing : parseDeclaration(text);
    known.set(typeName, description);
  }
  return description;
}

/** `io.k8s.api.core.v1.Event` is declared as `V1Event`, or as `CoreV1Event` where groups share the name. */
function readDeclaration(typeName: string): string | undefined {
  const [name = '', version = '', group = ''] = typeName.split('.').toReversed();
  const upper = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
  const short = `${upper(version)}${name}`;
  for (const file of [short, `${upper(group)}${short}`]) {
    for (const folder of [builtIn, installed]) {
      try {
        return readFileSync(new URL(`gen/models/${file}.d.ts`, folder()), 'utf8');
      } catch {
        // Not declared under this name, or not found.
      }
    }
  }
  return undefined;
}

/** In the built library, wherever in it the build has put this code. */
const builtIn = (): URL => new URL('dist/lib/models/', import.meta.resolve('kube-controller-manager/package.json'));
const installed = (): string => import.meta.resolve('@kubernetes/client-node');

export function parseDeclaration(text: string): Description {
  const fields = new Map<string, string>();
  let type: string | undefined;
  for (const [, comment = '', subject = ''] of text.matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/(?=\s*(.*))/g)) {
    const description = comment
      .replaceAll(/^\s*\* ?/gm, '')
      .replaceAll(/\\(['"])/g, '$1')
      .trim();
    const field = /^'(\w+)'/.exec(subject)?.[1];
    if (field !== undefined) fields.set(field, description);
    else if (subject.startsWith('export declare class')) type = description;
  }
  return { type, fields };
}
