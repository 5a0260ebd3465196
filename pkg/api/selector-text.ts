import { ownValue } from './own.ts';
import { compileSelector, InvalidSelectorError, requirementProblem, type Labels, type Selector } from './selector.ts';

export interface SelectorRequirement {
  readonly key: string;
  readonly operator: '=' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';
  readonly values: readonly string[];
}

export interface ParsedSelector {
  readonly matches: Selector;
  readonly requirements: readonly SelectorRequirement[];
  /** Labels that every selected object has, with these values. There may be none. */
  readonly required: Labels;
}

/**
 * Parses the text form of a label selector: `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1`. Blank text selects everything.
 * Throws `InvalidSelectorError`, with the message of the API server.
 */
export function parseSelectorText(text: string): ParsedSelector {
  if (text.trim() === '') return { matches: () => true, requirements: [], required: {} };
  const requirements = splitRequirements(text).map(parseRequirement);
  return {
    matches: (labels) => requirements.every(({ matches }) => matches(labels)),
    requirements,
    required: Object.fromEntries(requirements.filter(isOneValue).map(({ key, values }) => [key, values[0] ?? ''])),
  };
}

interface Requirement extends SelectorRequirement {
  readonly matches: Selector;
}

function isOneValue({ operator, values }: SelectorRequirement): boolean {
  return operator === '=' || (operator === 'in' && values.length === 1);
}

/** Splits at commas, except those between brackets. */
function splitRequirements(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const letter of text) {
    if (letter === '(') depth++;
    if (letter === ')') depth--;
    if (letter === ',' && depth === 0) {
      parts.push(part);
      part = '';
    } else part += letter;
  }
  return [...parts, part];
}

function parseRequirement(part: string): Requirement {
  const set = /^\s*(\S+)\s+(in|notin)\s*\(([^()]*)\)\s*$/.exec(part);
  if (set !== null) {
    const [, name = '', operator, list = ''] = set;
    const values = list.split(',').map((each) => each.trim());
    return build(name, operator === 'in' ? 'in' : 'notin', values);
  }
  const comparison = /^\s*([^\s=!<>]+)\s*(==|=|!=)\s*([^\s=!<>]*)\s*$/.exec(part);
  if (comparison !== null) {
    const [, name = '', operator, value = ''] = comparison;
    return build(name, operator === '!=' ? '!=' : '=', [value]);
  }
  const order = /^\s*([^\s=!<>]+)\s*([<>])\s*(-?\d+)\s*$/.exec(part);
  if (order !== null) {
    const [, name = '', operator, bound = ''] = order;
    refuse(requirementProblem(name, 'Exists', []));
    const matches = compare(name, operator === '>', BigInt(bound));
    return { key: name, operator: operator === '>' ? 'gt' : 'lt', values: [bound], matches };
  }
  const existence = /^\s*(!?)\s*([^\s=!<>(),]+)\s*$/.exec(part);
  if (existence === null) throw unexpected(part);
  const [, negation, name = ''] = existence;
  return build(name, negation === '!' ? '!' : 'exists', []);
}

const operators = {
  '=': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
} as const;

function build(key: string, operator: keyof typeof operators, values: string[]): Requirement {
  refuse(requirementProblem(key, operators[operator], values));
  const matchExpressions = [{ key, operator: operators[operator], values }];
  return { key, operator, values, matches: compileSelector({ matchExpressions }) };
}

function compare(name: string, isGreater: boolean, bound: bigint): Selector {
  return (labels) => {
    const value = ownValue(labels, name);
    if (value === undefined || !/^-?\d+$/.test(value)) return false;
    return isGreater ? BigInt(value) > bound : BigInt(value) < bound;
  };
}

/** The error for a name that is not followed by an operator or a list. */
function unexpected(part: string): Error {
  const [, afterIn] = /^\s*[^\s=!<>(),]+\s+(?:in|notin)\b\s*([^\s(]*)/.exec(part) ?? [];
  if (afterIn !== undefined && !part.includes('(')) return failure(`found '${afterIn}' expected: '('`);
  const [, token] = /^\s*!?\s*[^\s=!<>(),]+\s*(\S+)/.exec(part) ?? [];
  if (token === undefined) return failure(`found '${part.trim()}', expected: identifier`);
  return failure(`found '${token}', expected: in, notin, =, ==, !=, gt, lt`);
}

function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw failure(problem);
}

function failure(why: string): Error {
  return new InvalidSelectorError(`unable to parse requirement: ${why}`);
}
