import type { ControllerDescriptor, ControllerFacts } from '../../pkg/controller/index.ts';
import { cloudControllers } from './cloud-controllers.ts';

/** Every controller that `--controllers` accepts: those registered, and those for cloud providers. */
export function knownControllers(registered: readonly ControllerDescriptor[]): readonly ControllerFacts[] {
  const names = new Set(registered.map(({ name }) => name));
  return [...registered, ...cloudControllers.filter(({ name }) => !names.has(name))];
}
