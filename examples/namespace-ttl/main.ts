import { runManager } from '../../index.ts';
import { namespaceTtlController } from './controller.ts';

await runManager({ name: 'namespace-ttl', controllers: [namespaceTtlController] });
