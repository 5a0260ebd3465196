import type { ControllerDescriptor, ControllerFacts } from '../../pkg/controller/index.ts';
import { controllersNotBuilt } from './not-built/index.ts';

/** Every controller that `--controllers` accepts: those registered, and those of Kubernetes that are not built. */
export function knownControllers(registered: readonly ControllerDescriptor[]): readonly ControllerFacts[] {
  const built = new Set(registered.map(({ name }) => name));
  return [...registered, ...controllersNotBuilt.filter(({ name }) => !built.has(name))];
}
