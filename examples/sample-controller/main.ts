import { runManager } from '../../index.ts';
import { fooController } from './controller.ts';

await runManager({ name: 'sample-controller', controllers: [fooController] });
