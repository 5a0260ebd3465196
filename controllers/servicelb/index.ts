import type { ControllerDefinition } from '../../pkg/controller/index.ts';
import { createServiceLbController, serviceLbName, type ServiceLbOptions } from './service-lb.ts';

export function serviceLb(options: ServiceLbOptions): ControllerDefinition {
  return { name: serviceLbName, create: (context) => createServiceLbController(context, options) };
}
