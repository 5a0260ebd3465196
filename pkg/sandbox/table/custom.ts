import type { PrinterColumn } from '../registry/index.ts';
import { age, type Column } from './column.ts';

/** The columns of a definition; only the age if it has none. */
export function customColumns(columns: readonly PrinterColumn[], ageColumn: Column): Column[] {
  if (columns.length === 0) return [ageColumn];
  return columns.map(({ name, type, format, description, priority, jsonPath }) => ({
    name,
    type: isColumnType(type) ? type : 'string',
    format,
    description,
    priority,
    cell(object, nowMs) {
      const value = readPath(object, jsonPath);
      if (value === undefined || value === null) return null;
      if (type === 'date') return typeof value === 'string' ? age(value, nowMs) : '<invalid>';
      return type === 'string' && typeof value !== 'string' ? JSON.stringify(value) : value;
    },
  }));
}

function isColumnType(type: string): type is NonNullable<Column['type']> {
  return ['string', 'integer', 'number', 'boolean', 'date'].includes(type);
}

/** The simple paths that definitions use: `.a.b`, `.a[0]`, `.a['x.y']`, `.a[?(@.type=="Ready")].status`. */
export function readPath(object: unknown, path: string): unknown {
  const steps = path.matchAll(
    /\.?\[\?\(@\.([\w-]+)\s*==\s*["']([^"']*)["']\)\]|\.?\[['"]([^'"]+)['"]\]|\[(\d+|\*)\]|\.((?:\\.|[\w-])+)/g,
  );
  let value = object;
  for (const [, field, wanted, quoted, index, plain] of steps) {
    if (typeof value !== 'object' || value === null) return undefined;
    const fields = value as Readonly<Record<string, unknown>>;
    if (field !== undefined) {
      value = Array.isArray(value) ? value.find((item: unknown) => readPath(item, `.${field}`) === wanted) : undefined;
    } else if (index !== undefined) value = index === '*' ? Object.values(fields)[0] : fields[index];
    else value = fields[quoted ?? (plain ?? '').replaceAll('\\', '')];
  }
  return value;
}
