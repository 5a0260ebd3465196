import { manifestsOf } from '../../index.ts';
import { fooController } from './controller.ts';

const image = process.argv[2] ?? 'example.com/sample-controller:1';
const manifests = manifestsOf({ name: 'sample-controller', image, controllers: [fooController] });
process.stdout.write(`${JSON.stringify(manifests, undefined, 2)}\n`);
