import type { ControllerDefinition } from '../../pkg/controller/index.ts';
import { createNodeRouteController, nodeRouteName, type NodeRouteOptions } from './node-route.ts';

export function nodeRoute(options: NodeRouteOptions): ControllerDefinition {
  return { name: nodeRouteName, create: (context) => createNodeRouteController(context, options) };
}
