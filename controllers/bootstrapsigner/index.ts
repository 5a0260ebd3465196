import { defineController } from '../../pkg/controller/index.ts';
import { createBootstrapSigner } from './bootstrap-signer.ts';

export const bootstrapSigner = defineController({
  name: 'bootstrap-signer-controller',
  aliases: ['bootstrapsigner'],
  onByDefault: false,
  create: createBootstrapSigner,
});
