import { describeController, type ControllerFacts } from '../../../pkg/controller/index.ts';
import { certificateControllers } from './certificates.ts';
import { cloudControllers } from './cloud.ts';
import { nodeControllers } from './nodes.ts';
import { volumeControllers } from './volumes.ts';
import { workloadControllers } from './workloads.ts';

export { cloudControllers } from './cloud.ts';

/**
 * The controllers of Kubernetes 1.36 that are not built here. `--controllers` accepts their names, and their flags are
 * accepted without effect. Each entry is a descriptor without `create`: when a controller is built, its entry moves to
 * `controllers/<name>/index.ts`.
 */
export const controllersNotBuilt: readonly ControllerFacts[] = [
  ...certificateControllers,
  ...cloudControllers,
  ...nodeControllers,
  ...volumeControllers,
  ...workloadControllers,
].map(describeController);
