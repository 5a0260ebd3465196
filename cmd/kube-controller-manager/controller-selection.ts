import type { ControllerDescriptor, ControllerFacts, FeatureGates } from '../../pkg/controller/index.ts';
import { exitCodes, StartupError } from './exit-codes.ts';
import { knownControllers } from './known-controllers.ts';

/** Other controllers may need its tokens. So it starts first, and runs unless it is left out by name, as in Go. */
export const tokenController = 'serviceaccount-token-controller';

export interface ControllerSelection {
  /** In start order. */
  readonly enabled: readonly ControllerDescriptor[];
  /** Selected, but a required gate is off. */
  readonly gatedOff: readonly string[];
  readonly disabled: readonly string[];
}

/** Applies `--controllers`. Throws a `StartupError` if it names an unknown controller. */
export function selectControllers(
  requested: readonly string[],
  registered: readonly ControllerDescriptor[],
  gates: FeatureGates,
): ControllerSelection {
  const known = knownControllers(registered);
  const wanted = resolveNames(requested, known);
  const isOn = (gate: string): boolean => gates.isEnabled(gate);
  const selected = known.filter((controller) => isWanted(controller, wanted));
  const gatedOff = selected.filter(({ requiredGates }) => !requiredGates.every(isOn)).map(({ name }) => name);
  const running = new Set(selected.map(({ name }) => name).filter((name) => !gatedOff.includes(name)));
  const enabled = registered.filter(({ name }) => running.has(name));
  return {
    enabled: enabled.sort((a, b) => Number(b.name === tokenController) - Number(a.name === tokenController)),
    gatedOff,
    disabled: registered.filter(({ name }) => !running.has(name)).map(({ name }) => name),
  };
}

/** Replaces aliases by names and keeps a leading minus. */
function resolveNames(requested: readonly string[], known: readonly ControllerFacts[]): readonly string[] {
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

/** The first entry with the name decides. Otherwise `*` selects all controllers that are on by default. */
function isWanted({ name, onByDefault }: ControllerFacts, wanted: readonly string[]): boolean {
  const named = wanted.find((entry) => entry === name || entry === `-${name}`);
  if (named !== undefined) return named === name;
  return name === tokenController || (onByDefault && wanted.includes('*'));
}
