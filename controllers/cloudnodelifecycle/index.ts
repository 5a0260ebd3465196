import type { ControllerDefinition } from '../../pkg/controller/index.ts';
import {
  cloudNodeLifecycleName,
  createCloudNodeLifecycleController,
  type CloudNodeLifecycleOptions,
} from './cloud-node-lifecycle.ts';

export function cloudNodeLifecycle(options: CloudNodeLifecycleOptions): ControllerDefinition {
  return { name: cloudNodeLifecycleName, create: (context) => createCloudNodeLifecycleController(context, options) };
}
