import type { ControllerDefinition } from '../../pkg/controller/index.ts';
import { cloudNodeName, createCloudNodeController, type CloudNodeOptions } from './cloud-node.ts';

export function cloudNode(options: CloudNodeOptions): ControllerDefinition {
  return { name: cloudNodeName, create: (context) => createCloudNodeController(context, options) };
}
