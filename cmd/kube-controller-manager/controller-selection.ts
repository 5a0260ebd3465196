import type { ControllerDescriptor, FeatureGates } from '../../pkg/controller/index.ts';
import { exitCodes, StartupError } from './exit-codes.ts';
import { cloudControllers, knownControllers, type KnownController } from './known-controllers.ts';

/** Mints the tokens that others may need, so it runs whenever it is not left out by name, and before the others. */
export const tokenController = 'serviceaccount-token-controller';

export interface ControllerSelection {
  /** In the order in which they are to start. */
  readonly enabled: readonly ControllerDescriptor[];
  /** Asked for and known to Kubernetes, but not part of this build. */
  readonly notBuilt: readonly string[];
  /** Asked for and built, but a gate that they need is off. */
  readonly gatedOff: readonly string[];
  readonly disabled: readonly string[];
}

/** What `--controllers` makes of the controllers there are. Throws when it names one that Kubernetes does not have. */
export function selectControllers(
  requested: readonly string[],
  registered: readonly ControllerDescriptor[],
  gates: FeatureGates,
): ControllerSelection {
  const known = [...new Map([...knownControllers, ...registered].map((entry) => [entry.name, entry])).values()];
  const wanted = resolveNames(requested, known);
  const isOn = (gate: string): boolean => gates.isEnabled(gate);
  const selected = known.filter((controller) => isWanted(controller, wanted));
  const gatedOff = selected.filter(({ requiredGates }) => !requiredGates.every(isOn)).map(({ name }) => name);
  const running = new Set(selected.map(({ name }) => name).filter((name) => !gatedOff.includes(name)));
  const built = new Set(registered.map(({ name }) => name));
  const enabled = registered.filter(({ name }) => running.has(name));
  return {
    enabled: enabled.sort((a, b) => Number(b.name === tokenController) - Number(a.name === tokenController)),
    notBuilt: [...running].filter((name) => !built.has(name) && !cloudControllers.has(name)),
    gatedOff: gatedOff.filter((name) => built.has(name)),
    disabled: known.filter(({ name }) => !running.has(name) && built.has(name)).map(({ name }) => name),
  };
}

/** Replaces aliases by names, keeping a leading minus. */
function resolveNames(requested: readonly string[], known: readonly KnownController[]): readonly string[] {
  const names = new Map(known.flatMap(({ name, aliases }) => [name, ...aliases].map((each) => [each, name])));
  return requested.map((entry) => {
    if (entry === '*') return entry;
    const minus = entry.startsWith('-') ? '-' : '';
    const name = names.get(entry.slice(minus.length));
    if (name !== undefined) return minus + name;
    const list = known.map((controller) => controller.name).sort();
    const problem = `"${entry.slice(minus.length)}" is not in the list of known controllers: ${list.join(', ')}`;
    throw new StartupError(exitCodes.usage, `--controllers: ${problem}`);
  });
}

/** The first entry that names it decides; else `*` takes in all that are on by default. */
function isWanted({ name, onByDefault }: KnownController, wanted: readonly string[]): boolean {
  const named = wanted.find((entry) => entry === name || entry === `-${name}`);
  if (named !== undefined) return named === name;
  return name === tokenController || (onByDefault && wanted.includes('*'));
}
