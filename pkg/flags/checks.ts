import * as z from 'zod';

export function atLeast(min: number): z.ZodType<number, number> {
  return z.number().min(min, `must be at least ${min}`);
}

export function moreThanZero(): z.ZodType<number, number> {
  return z.number().positive('must be more than 0');
}

export function between(min: number, max: number): z.ZodType<number, number> {
  const problem = `must be between ${min} and ${max}`;
  return z.number().min(min, problem).max(max, problem);
}

/** One of a few texts. An empty one is described as such. */
export function oneOf(...choices: readonly [string, ...string[]]): z.ZodType<string, string> {
  const names = choices.map((choice) => (choice === '' ? 'empty' : `"${choice}"`));
  return z.enum(choices, `must be ${names.join(' or ')}`);
}
