import { parse, type ASTNode } from '@marcbachmann/cel-js';

import { bool, dyn, failed, int, listOf, mapOf, simple, string, type SimpleName, type Type } from './types.ts';

interface Problem {
  readonly offset: number;
  readonly message: string;
}

/** The variables of an expression. */
export type Variables = ReadonlyMap<string, Type>;

export type Checked =
  | { readonly isUnderstood: false }
  | { readonly isUnderstood: true; readonly type: Type; readonly problem: string | undefined };

/** A part of an expression is not known here, or has an error of a kind that is not reported. */
export class NotUnderstoodError extends Error {
  override readonly name = 'NotUnderstoodError';
  readonly reason = 'NotUnderstood';
}

/**
 * Finds fields that do not exist, and values that cannot be compared. The Go binary reports all errors of an expression in one
 * text. So an expression is judged only if every part of it is understood and no other error is possible.
 */
export function checkExpression(expression: string, variables: Variables): Checked {
  const found: Problem[] = [];
  try {
    const type = new Checker(found).typeOf(parse(expression).ast, variables);
    return { isUnderstood: true, type, problem: found.length === 0 ? undefined : describe(expression, found) };
  } catch {
    return { isUnderstood: false }; // the parser throws for what it does not know
  }
}

const numbers: ReadonlySet<string> = new Set(['int', 'uint', 'double']);
const ordered: ReadonlySet<string> = new Set([...numbers, 'bool', 'string', 'bytes', 'timestamp', 'duration']);
const comparisons: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=', 'in']);
const macros: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'filter', 'map']);
/** Functions of strings, by the types of their arguments and of their result. */
const textFunctions: Readonly<Record<string, { readonly takes: readonly Type[]; readonly gives: Type }>> = {
  startsWith: { takes: [string], gives: bool },
  endsWith: { takes: [string], gives: bool },
  contains: { takes: [string], gives: bool },
  matches: { takes: [string], gives: bool },
  lowerAscii: { takes: [], gives: string },
  upperAscii: { takes: [], gives: string },
  trim: { takes: [], gives: string },
  split: { takes: [string], gives: listOf(string) },
  replace: { takes: [string, string], gives: string },
};

class Checker {
  readonly #found: Problem[];

  constructor(found: Problem[]) {
    this.#found = found;
  }

  typeOf(node: ASTNode, variables: Variables): Type {
    switch (node.op) {
      case 'value':
        return typeOfLiteral(node.args);
      case 'id':
        return variables.get(node.args) ?? fail();
      case '.':
        return this.#select(node.args[0], node.args[1], node, variables);
      case '[]':
        return this.#index(this.typeOf(node.args[0], variables), this.typeOf(node.args[1], variables));
      case '&&':
      case '||':
        for (const side of node.args) this.#expect(side, bool, variables);
        return bool;
      case '!_':
        return this.#expect(node.args, bool, variables);
      case '?:':
        this.#expect(node.args[0], bool, variables);
        return joinAll(node.args.slice(1).map((choice) => this.typeOf(choice, variables)));
      case 'list':
        return listOf(joinAll(node.args.map((item) => this.typeOf(item, variables))));
      case 'call':
        return this.#call(node.args[0], node.args[1], variables);
      case 'rcall':
        return this.#callOn(node.args[0], node.args[1], node.args[2], variables);
      case '==':
      case '!=':
      case '<':
      case '<=':
      case '>':
      case '>=':
        return this.#compare(node.op, node.args, variables);
      case 'in':
        if (node.args.some(({ op }) => comparisons.has(op))) return fail();
        return contains(this.typeOf(node.args[0], variables), this.typeOf(node.args[1], variables));
      case '+':
        return add(this.typeOf(node.args[0], variables), this.typeOf(node.args[1], variables));
      default:
        return fail();
    }
  }

  #select(operand: ASTNode, name: string, node: ASTNode, variables: Variables): Type {
    const type = this.typeOf(operand, variables);
    if (type.kind === 'dyn' || type.kind === 'error') return type;
    if (type.kind === 'map') return type.value;
    const offset = dotBefore(node.input, node.pos);
    if (type.kind !== 'object') {
      return this.#report(offset, `type '${format(type)}' does not support field selection`);
    }
    return type.fieldOf(name) ?? this.#report(offset, `undefined field '${name}'`);
  }

  #report(offset: number, message: string): Type {
    this.#found.push({ offset, message });
    return failed;
  }

  #compare(operator: string, [left, right]: readonly [ASTNode, ASTNode], variables: Variables): Type {
    // In Go, all comparisons have the same precedence.
    if ([left, right].some(({ op }) => comparisons.has(op))) return fail();
    const [first, second] = [this.typeOf(left, variables), this.typeOf(right, variables)];
    const isOrder = operator !== '==' && operator !== '!=';
    if (isOrder ? areOrdered(first, second) : areAlike(first, second)) return bool;
    const applied = `'(${format(first)}, ${format(second)})'`;
    const offset = operatorAfter(left, operator);
    return this.#report(offset, `found no matching overload for '_${operator}_' applied to ${applied}`);
  }

  /** The place of an error in the argument of `has` itself is that of the parenthesis. */
  #has(field: ASTNode, variables: Variables): Type {
    if (field.op !== '.') return fail();
    const [operand, name] = field.args;
    const type = this.typeOf(operand, variables);
    if (type.kind === 'object' && type.fieldOf(name) === undefined) {
      this.#report(parenthesisBefore(field), `undefined field '${name}'`);
    } else if (type.kind === 'simple' || type.kind === 'list') {
      this.#report(parenthesisBefore(field), `type '${format(type)}' does not support field selection`);
    }
    return bool;
  }

  #index(type: Type, index: Type): Type {
    if (type.kind === 'dyn' || type.kind === 'error') return type;
    if (type.kind === 'list') return join(index, int) && type.item;
    return type.kind === 'map' ? join(index, type.key) && type.value : fail();
  }

  #expect(node: ASTNode, wanted: Type, variables: Variables): Type {
    join(this.typeOf(node, variables), wanted);
    return wanted;
  }

  #call(name: string, args: readonly ASTNode[], variables: Variables): Type {
    const [first] = args;
    if (first === undefined || args.length !== 1) return fail();
    if (name === 'has') return this.#has(first, variables);
    if (name === 'size') return sizeOf(this.typeOf(first, variables));
    if (name !== 'string' && name !== 'int') return fail();
    const type = this.typeOf(first, variables);
    const isPlain = type.kind === 'dyn' || type.kind === 'error' || isOneOf(type, new Set(['string', 'int']));
    return isPlain ? simple(name) : fail();
  }

  #callOn(name: string, receiver: ASTNode, args: readonly ASTNode[], variables: Variables): Type {
    if (macros.has(name)) return this.#macro(name, receiver, args, variables);
    const type = this.typeOf(receiver, variables);
    if (name === 'size' && args.length === 0) return sizeOf(type);
    const known = Object.hasOwn(textFunctions, name) ? textFunctions[name] : undefined;
    if (known?.takes.length !== args.length) return fail();
    join(type, string);
    for (const arg of args) this.#expect(arg, string, variables);
    return known.gives;
  }

  #macro(name: string, receiver: ASTNode, args: readonly ASTNode[], variables: Variables): Type {
    const range = this.typeOf(receiver, variables);
    const [variable, body] = args;
    if (variable?.op !== 'id' || body === undefined || args.length !== 2) return fail();
    const inner = new Map(variables).set(variable.args, itemOf(range));
    if (name === 'map') return listOf(this.typeOf(body, inner));
    this.#expect(body, bool, inner);
    return name === 'filter' ? (range.kind === 'list' ? range : listOf(itemOf(range))) : bool;
  }
}

function fail(): never {
  throw new NotUnderstoodError('this part of the expression is not checked');
}

function typeOfLiteral(value: unknown): Type {
  if (typeof value === 'string') return string;
  if (typeof value === 'boolean') return bool;
  if (typeof value === 'bigint') return int;
  if (typeof value === 'number') return simple('double');
  return value === null ? simple('null_type') : fail();
}

/** The type that two values have in common. If in doubt, it is `dyn`, about which there is nothing to report. */
function join(first: Type, second: Type): Type {
  if ([first, second].some(({ kind }) => kind === 'dyn' || kind === 'error')) return dyn;
  if (first.kind === 'simple' && second.kind === 'simple' && first.name === second.name) return first;
  if (first.kind === 'list' && second.kind === 'list') return listOf(join(first.item, second.item));
  if (first.kind === 'map' && second.kind === 'map') {
    join(first.key, second.key);
    return mapOf(join(first.value, second.value));
  }
  if ([first, second].some(isNull) && [first, second].some(isNullable)) return dyn;
  return first === second ? first : fail();
}

/** The type of a value that is one of these. Go finds a type for some that are partly unknown here. */
function joinAll([first, ...others]: readonly Type[]): Type {
  if (first === undefined) return dyn;
  const isUnknown = ({ kind }: Type): boolean => kind === 'dyn' || kind === 'error';
  return others.reduce((joined, next) => (isUnknown(joined) === isUnknown(next) ? join(joined, next) : fail()), first);
}

const isNull = (type: Type): boolean => type.kind === 'simple' && type.name === 'null_type';
const isNullable = (type: Type): boolean =>
  type.kind === 'object' || (type.kind === 'simple' && (type.name === 'timestamp' || type.name === 'duration'));

function isOneOf(type: Type, names: ReadonlySet<string>): type is { kind: 'simple'; name: SimpleName } {
  return type.kind === 'simple' && names.has(type.name);
}

/** Whether values of the two types can be equal. */
function areAlike(first: Type, second: Type): boolean {
  try {
    join(first, second);
    return true;
  } catch (error) {
    if (error instanceof NotUnderstoodError) return false;
    throw error;
  }
}

function areOrdered(first: Type, second: Type): boolean {
  if (isNull(first) || isNull(second)) return fail(); // accepted where the other may be a time
  if (isOneOf(first, numbers) && isOneOf(second, numbers)) return true;
  const areComparable = [first, second].every(
    (type) => type.kind === 'dyn' || type.kind === 'error' || isOneOf(type, ordered),
  );
  return areComparable && areAlike(first, second);
}

/** The name of a type in messages. Those of objects have a part that is different each time. */
function format(type: Type): string {
  switch (type.kind) {
    case 'simple':
      return type.name === 'null_type' ? 'null' : type.name;
    case 'dyn':
      return 'dyn';
    case 'list':
      return `list(${format(type.item)})`;
    case 'map':
      return `map(${format(type.key)}, ${format(type.value)})`;
    default:
      return fail();
  }
}

function contains(item: Type, range: Type): Type {
  if (range.kind === 'list') join(item, range.item);
  else if (range.kind === 'map') join(item, range.key);
  else if (range.kind !== 'dyn' && range.kind !== 'error') return fail();
  return bool;
}

function add(first: Type, second: Type): Type {
  const sum = [first, second].find(({ kind }) => kind !== 'dyn' && kind !== 'error');
  if (sum === undefined) return dyn;
  join(first, second);
  return isOneOf(sum, new Set(['int', 'string', 'double'])) ? sum : fail();
}

function sizeOf(type: Type): Type {
  return type.kind === 'object' || (type.kind === 'simple' && type.name !== 'string') ? fail() : int;
}

function itemOf(range: Type): Type {
  if (range.kind === 'list') return range.item;
  if (range.kind === 'map') return range.key;
  return range.kind === 'dyn' || range.kind === 'error' ? dyn : fail();
}

/** The place of an error is the dot before the field. The parser gives the place of the name. */
function dotBefore(expression: string, place: number): number {
  const dot = expression.lastIndexOf('.', place - 1);
  return dot >= 0 && expression.slice(dot + 1, place).trim() === '' ? dot : fail();
}

function operatorAfter(left: ASTNode, operator: string): number {
  const between = /^[\s)]*/.exec(left.input.slice(left.end))?.[0].length ?? 0;
  const place = left.end + between;
  return left.input.startsWith(operator, place) ? place : fail();
}

function parenthesisBefore({ input, start }: ASTNode): number {
  const place = input.lastIndexOf('(', start - 1);
  return /has\s*$/.test(input.slice(0, place)) && input.slice(place + 1, start).trim() === '' ? place : fail();
}

/** The errors as the compiler of the Go binary prints them: each with its line of the expression, and its place below. */
function describe(expression: string, found: readonly Problem[]): string {
  if (/[^\n\x20-\x7e]/.test(expression)) return fail(); // wide characters and tabs move the marks
  const lines = expression.split('\n');
  const placed = found.map(({ offset, message }) => {
    const before = expression.slice(0, offset).split('\n');
    return { message, line: before.length, column: before.at(-1)?.length ?? 0 };
  });
  placed.sort((first, second) => first.line - second.line || first.column - second.column);
  return placed
    .map(({ message, line, column }) => {
      return `ERROR: <input>:${line}:${column + 1}: ${message}\n | ${lines[line - 1]}\n | ${'.'.repeat(column)}^`;
    })
    .join('\n');
}
