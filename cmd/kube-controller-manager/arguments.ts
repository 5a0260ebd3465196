import { isBoolean } from '../../pkg/flags/index.ts';
import type { AllFlags } from './flags/index.ts';

const shorthands: Readonly<Record<string, string>> = { h: 'help', v: 'v' };

/**
 * Rewrites arguments to `--flag=value`, by the rules of Go's pflag: underscores in names become dashes, the value of a
 * boolean must follow `=`, and any other flag takes the next argument, even one that looks like a flag.
 */
export function normalizeArguments(argv: readonly string[], flags: AllFlags): string[] {
  const result: string[] = [];
  const rest = [...argv];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    if (argument === '--') return [...result, argument, ...rest];
    const { name, value } = splitFlag(argument);
    const type = name === 'help' ? 'bool' : name === undefined ? undefined : flags.get(name)?.type;
    if (name === undefined) result.push(argument);
    else if (value !== undefined) result.push(`--${name}=${value}`);
    else if (type === undefined) result.push(`--${name}`);
    else if (isBoolean(type)) result.push(`--${name}=true`);
    else {
      const next = rest.shift();
      result.push(next === undefined ? `--${name}` : `--${name}=${next}`);
    }
  }
  return result;
}

function splitFlag(argument: string): { readonly name?: string; readonly value?: string | undefined } {
  const long = /^--([^=]+)(?:=(.*))?$/s.exec(argument);
  if (long?.[1] !== undefined) return { name: long[1].replaceAll('_', '-'), value: long[2] };
  const short = /^-(\w)(?:=?(.+))?$/s.exec(argument);
  const name = short?.[1] === undefined ? undefined : shorthands[short[1]];
  if (name === undefined) return {};
  return name === 'help' && short?.[2] !== undefined ? {} : { name, value: short?.[2] };
}
