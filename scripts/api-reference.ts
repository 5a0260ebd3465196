/** Writes docs/operators-api.md from the exported types and their comments: `npm run docs`. A test fails if it is stale. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const file = join(root, 'docs/operators-api.md');

const sections = [
  { title: 'Resources and controllers', from: 'kube-controller-manager', index: 'pkg/operator/index.ts' },
  { title: 'The manager', from: 'kube-controller-manager', index: 'pkg/manager/index.ts' },
  { title: 'Tests', from: 'kube-controller-manager/testing', index: 'pkg/testing/index.ts' },
];

/** The reference as Markdown. */
export function apiReference(): string {
  const parts = sections.map(({ title, from, index }) => {
    const exported = new Map(exportsOf(index).map((each) => [each.name, each]));
    const entries = [...exported.values()].map(({ name, path }) => entryOf(name, path));
    return `## ${title}\n\nFrom \`${from}\`.\n\n${entries.join('\n')}`;
  });
  const head =
    '# API reference for operators\n\nGenerated from the types by `npm run docs`. See [operators.md](operators.md).';
  return `${head}\n\n${parts.join('\n')}`;
}

interface Exported {
  readonly name: string;
  /** The file that declares it. */
  readonly path: string;
}

function exportsOf(index: string): Exported[] {
  const text = readFileSync(join(root, index), 'utf8');
  const statements = text.matchAll(/^export (?:type )?(\*|\{[^}]*\}) from '([^']+)';/gm);
  return [...statements].flatMap(([, names = '', specifier = '']) => {
    const path = join(dirname(index), specifier);
    const listed =
      names === '*'
        ? namesIn(path)
        : names
            .replace(/[{}\s]/g, '')
            .split(',')
            .filter((name) => name !== '');
    return listed.map((name) => ({ name, path }));
  });
}

function namesIn(path: string): string[] {
  const text = readFileSync(join(root, path), 'utf8');
  const declared = text.matchAll(/^export (?:declare )?(?:async )?(?:function|const|class|interface|type) (\w+)/gm);
  return [...new Set([...declared].map(([, name = '']) => name))];
}

function entryOf(name: string, path: string): string {
  const lines = readFileSync(join(root, path), 'utf8').split('\n');
  const start = lines.findIndex((line) =>
    new RegExp(`^export (?:async )?(?:function|const|class|interface|type) ${name}\\b`).test(line),
  );
  if (start < 0) throw new Error(`${path} does not declare ${name}`);
  const about = commentBefore(lines, start);
  return `### ${name}\n\n${about === '' ? '' : `${about}\n\n`}\`\`\`ts\n${declarationAt(lines, start)}\n\`\`\`\n`;
}

/** The text of the comment that ends on the line before. */
function commentBefore(lines: readonly string[], start: number): string {
  if (lines[start - 1]?.trim().endsWith('*/') !== true) return '';
  const from = lines.findLastIndex((line, index) => index < start && line.startsWith('/**'));
  const comment = lines.slice(from, start).map((line) => line.replace(/^\s*(?:\/\*\*|\*\/|\*)\s?|\s*\*\/$/g, ''));
  return comment.join('\n').trim();
}

/** A type as in the source; for a function, constant or class only its public signature. */
function declarationAt(lines: readonly string[], start: number): string {
  const first = lines[start] ?? '';
  const kind = /^export (?:async )?(\w+)/.exec(first)?.[1];
  if (kind === 'class') return first.replace(/ \{$/, ';').replace('export ', '');
  if (kind === 'const') return constantOf(first);
  const isFunction = kind === 'function';
  const isEnd = (line: string): boolean =>
    isFunction
      ? /( \{|;)$/.test(line) && !/^\s{2,}/.test(line) // of overloads, the first
      : /^\S.*;$|^\}$|^\};$|^ {2,}.*;$/.test(line) && closes(line, first);
  const length = lines.slice(start).findIndex(isEnd);
  const text = lines.slice(start, start + length + 1).join('\n');
  return (isFunction ? text.replace(/ \{$/, ';').replace('async ', '') : text).replace('export ', '');
}

/** The type of a constant is declared, or it is the literal that is its value. */
function constantOf(line: string): string {
  const [, name = '', declared, value = ''] = /^export const (\w+)(?:: (.+?))? = ?(.*)$/.exec(line) ?? [];
  const literal = /^(?:\d+|'[^']*'|true|false);$/.test(value) ? value.slice(0, -1) : undefined;
  const type = declared ?? literal;
  if (type === undefined) throw new Error(`the constant ${name} needs a declared type, for the API reference`);
  return `const ${name}: ${type};`;
}

/** Interfaces and objects end with a brace at the start of a line, other types with their first semicolon. */
function closes(line: string, first: string): boolean {
  return first.endsWith('{') ? /^\};?$/.test(line) : line.endsWith(';');
}

if (process.argv[1] === import.meta.filename) writeFileSync(file, apiReference());
