import { defineController } from '../../pkg/controller/index.ts';
import { createTaintEvictionController } from './taint-eviction.ts';

export const taintEviction = defineController({
  name: 'taint-eviction-controller',
  requiredGates: ['SeparateTaintEvictionController'],
  create: createTaintEvictionController,
});
