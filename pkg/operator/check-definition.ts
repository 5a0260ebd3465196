import { InvalidSelectorError, parseSelectorText, resourceName } from '../api/index.ts';
import type { ControllerParts } from './controller.ts';
import { DefinitionError } from './definition-error.ts';
import { fieldTerms } from './selection.ts';
import { selectionOf } from './watch.ts';

type Refuse = (what: string) => never;

/** Throws a `DefinitionError` for mistakes that would otherwise have no visible effect. */
export function checkDefinition(parts: ControllerParts): void {
  const { name } = parts.options;
  const refuse: Refuse = (what) => {
    throw new DefinitionError(`controller ${JSON.stringify(name)}: ${what}`);
  };
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) refuse('a name has lower case letters, digits and dashes');
  checkKinds(parts, refuse);
  checkSelections(parts, refuse);
  checkFinalizer(parts, refuse);
  checkNumbers(parts, refuse);
}

function checkKinds({ primary, owns, watches }: ControllerParts, refuse: Refuse): void {
  for (const { watched } of owns) {
    // The garbage collector would delete them: it finds no such owner.
    if (primary.watched.namespaced && !watched.namespaced) {
      refuse(`${primary.watched.kind} is namespaced and cannot own ${watched.kind}, which is not`);
    }
  }
  for (const { watched, options } of watches) {
    if (options.map === undefined) refuse(`${watched.kind} in watches needs a map; to read it only, name it in reads`);
  }
}

function checkSelections({ primary, owns, watches, reads }: ControllerParts, refuse: Refuse): void {
  const versions = new Map<string, string>();
  const selections = new Map<string, string>();
  for (const { watched, options } of [primary, ...owns, ...watches, ...reads]) {
    const { version } = watched;
    const other = versions.get(resourceName(watched)) ?? version;
    // Both would share one cache, and own writes are compared by their resource.
    if (other !== version) refuse(`${watched.kind} is watched in two versions, ${other} and ${version}`);
    versions.set(resourceName(watched), version);
    const selected = JSON.stringify(selectionOf(options));
    const known = selections.get(resourceName(watched)) ?? selected;
    if (known !== selected) refuse(`${watched.kind} is watched with two different selections`);
    selections.set(resourceName(watched), known);
    try {
      parseSelectorText(options.labelSelector ?? '');
    } catch (error) {
      if (!(error instanceof InvalidSelectorError)) throw error;
      refuse(`the labelSelector of ${watched.kind}: ${error.message}`);
    }
  }
}

/** Fields that never change. An object that leaves the selection by another field would keep the finalizer. */
const fixedFields = new Set(['metadata.name', 'metadata.namespace']);

function checkFinalizer({ options }: ControllerParts, refuse: Refuse): void {
  const { finalizer, labelSelector, fieldSelector = '' } = options;
  if (finalizer === undefined) return;
  if (!/^[a-z0-9.-]+\.[a-z0-9-]+\/[A-Za-z0-9._-]+$/.test(finalizer.name)) {
    refuse(`the finalizer ${JSON.stringify(finalizer.name)} needs a domain, such as example.com/cleanup`);
  }
  if (labelSelector !== undefined) {
    refuse('an object that loses its labels would keep the finalizer forever: use when instead of labelSelector');
  }
  const changeable = fieldTerms(fieldSelector).find(({ field }) => !fixedFields.has(field));
  if (changeable !== undefined) {
    const { field } = changeable;
    refuse(`an object whose ${field} changes would keep the finalizer forever: use when instead of fieldSelector`);
  }
}

function checkNumbers({ options }: ControllerParts, refuse: Refuse): void {
  const { workers = 1, backoff, retryRate, minIntervalMs = 0, resyncMs = 0 } = options;
  if (!Number.isInteger(workers) || workers < 1) refuse(`workers is ${workers}, and must be a whole number above 0`);
  const least = (field: string, value: number, minimum: number): void => {
    if (!Number.isFinite(value) || value < minimum) refuse(`${field} is ${value}, and must be at least ${minimum}`);
  };
  least('minIntervalMs', minIntervalMs, 0);
  least('resyncMs', resyncMs, 0);
  if (backoff !== undefined) {
    least('backoff.baseMs', backoff.baseMs, 1);
    least('backoff.maxMs', backoff.maxMs, backoff.baseMs);
  }
  if (retryRate !== undefined) {
    const { qps } = retryRate;
    if (!Number.isFinite(qps) || qps <= 0) refuse(`retryRate.qps is ${qps}, and must be above 0`);
    least('retryRate.burst', retryRate.burst, 1);
  }
}
