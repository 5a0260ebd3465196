import { compileSelector, ownValue, type Selector } from '../../api/index.ts';
import { badRequest } from '../failure.ts';
import { labelValueProblem, qualifiedNameProblem } from '../rules/index.ts';

const everything: Selector = () => true;

/** Compiles the text form of a label selector: `a=b,c!=d,e in (f,g),h notin (i),j,!k`. Throws 400. */
export function parseLabelSelector(text: string | undefined): Selector {
  if (text === undefined || text.trim() === '') return everything;
  const requirements = splitRequirements(text).map((each) => parseRequirement(each, text));
  return (labels) => requirements.every((requirement) => requirement(labels));
}

/** Commas part requirements, except those between brackets. */
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

function parseRequirement(part: string, text: string): Selector {
  const set = /^\s*(\S+)\s+(in|notin)\s*\(([^()]*)\)\s*$/.exec(part);
  if (set !== null) {
    const [, name = '', operator, list = ''] = set;
    const values = list.split(',').map((each) => checkValue(each.trim(), text));
    return build(name, operator === 'in' ? 'In' : 'NotIn', values, text);
  }
  const comparison = /^\s*([^\s=!<>]+)\s*(==|=|!=)\s*([^\s=!<>]*)\s*$/.exec(part);
  if (comparison !== null) {
    const [, name = '', operator, value = ''] = comparison;
    return build(name, operator === '!=' ? 'NotIn' : 'In', [checkValue(value, text)], text);
  }
  const order = /^\s*([^\s=!<>]+)\s*([<>])\s*(-?\d+)\s*$/.exec(part);
  if (order !== null) {
    const [, name = '', operator, bound = ''] = order;
    return compare(checkName(name, text), operator === '>', BigInt(bound));
  }
  const existence = /^\s*(!?)\s*([^\s=!<>(),]+)\s*$/.exec(part);
  if (existence === null) throw unexpected(part);
  const [, negation, name = ''] = existence;
  return build(name, negation === '!' ? 'DoesNotExist' : 'Exists', [], text);
}

function build(key: string, operator: string, values: string[], text: string): Selector {
  return compileSelector({ matchExpressions: [{ key: checkName(key, text), operator, values }] });
}

function compare(name: string, isGreater: boolean, bound: bigint): Selector {
  return (labels) => {
    const value = ownValue(labels, name);
    if (value === undefined || !/^-?\d+$/.test(value)) return false;
    return isGreater ? BigInt(value) > bound : BigInt(value) < bound;
  };
}

function checkName(name: string, text: string): string {
  const problem = qualifiedNameProblem(name);
  if (problem !== undefined) throw badSelector(text, `: key: Invalid value: ${JSON.stringify(name)}: ${problem}`);
  return name;
}

function checkValue(value: string, text: string): string {
  const problem = labelValueProblem(value);
  if (problem !== undefined)
    throw badSelector(text, `: values[0]: Invalid value: ${JSON.stringify(value)}: ${problem}`);
  return value;
}

/** A name, and what follows it is no operator or no list. */
function unexpected(part: string): Error {
  const [, afterIn] = /^\s*[^\s=!<>(),]+\s+(?:in|notin)\b\s*([^\s(]*)/.exec(part) ?? [];
  if (afterIn !== undefined && !part.includes('(')) return failure(`found '${afterIn}' expected: '('`);
  const [, token] = /^\s*!?\s*[^\s=!<>(),]+\s*(\S+)/.exec(part) ?? [];
  if (token === undefined) return failure(`found '${part.trim()}', expected: identifier`);
  return failure(`found '${token}', expected: in, notin, =, ==, !=, gt, lt`);
}

function failure(why: string): Error {
  return badRequest(`unable to parse requirement: ${why}`);
}

function badSelector(text: string, why = ''): Error {
  return badRequest(`unable to parse requirement${why}: couldn't parse the selector string ${JSON.stringify(text)}`);
}
