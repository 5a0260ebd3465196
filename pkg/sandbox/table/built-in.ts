import type { Column } from './column.ts';

/** The columns of a built-in kind, after its name; undefined for kinds that have none of their own. */
export function builtInColumns(storage: string): readonly Column[] | undefined {
  return columns[storage];
}

const columns: Readonly<Record<string, readonly Column[]>> = {};
