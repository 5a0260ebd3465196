import { runManager } from '../../index.ts';
import { helloController } from './controller.ts';

await runManager({ name: 'hello', controllers: [helloController] });
