import { describe, expect, test } from 'vitest';

import { defineController, type ControllerDescriptor } from '../pkg/controller/index.ts';
import { controllers, DuplicateControllerError, register } from './registry.ts';

function named(name: string, ...aliases: string[]): ControllerDescriptor {
  return defineController({
    name,
    aliases,
    create: () => ({ name, run: async () => {} }),
  });
}

const rows = [
  { name: 'a name that is taken', list: [named('a'), named('a')] },
  { name: 'an alias that is a name', list: [named('a'), named('b', 'a')] },
  { name: 'an alias that is taken', list: [named('a', 'c'), named('b', 'c')] },
];

describe('register refuses', () => {
  for (const { name, list } of rows) {
    test(name, () => expect(() => register(list)).toThrow(DuplicateControllerError));
  }
});

describe('the registry', () => {
  test('holds only controllers that accept the defaults of their flags', () => {
    for (const descriptor of controllers) expect(() => descriptor.bind(new Map())).not.toThrow();
  });
});
