import { defineController } from '../../pkg/controller/index.ts';
import { createNodeTtlController } from './node-ttl.ts';

export const nodeTtl = defineController({
  name: 'ttl-controller',
  aliases: ['ttl'],
  create: createNodeTtlController,
});
