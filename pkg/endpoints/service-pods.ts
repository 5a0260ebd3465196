import { isEqualJson, selectorFromSet, type ObjectKey, type Pod, type Service } from '../api/index.ts';
import { defineSelectorIndex, SelectedPods } from '../controller/index.ts';
import type { Informer } from '../../informers/index.ts';
import { isEndpointChange } from './pods.ts';

const servicesBySelector = defineSelectorIndex<Service>('spec.selector', ({ spec }) => spec.selector);

export interface ServicePodsOptions {
  readonly services: Informer<Service>;
  readonly pods: Informer<Pod>;
  /** The Service was added, updated or deleted. */
  onServiceChange(service: ObjectKey): void;
  /** The Service selects another set of pods, or the endpoint of a pod has changed. */
  onPodChange(service: ObjectKey): void;
}

/** The pods that each Service selects. */
export function createServicePods(options: ServicePodsOptions): SelectedPods<Service> {
  const { services: owners, pods, onServiceChange, onPodChange } = options;
  return new SelectedPods<Service>({
    owners,
    pods,
    index: servicesBySelector,
    selectorOf: ({ spec: { selector } }) => (selector === undefined ? undefined : selectorFromSet(selector)),
    hasSameSelector: ({ spec: before }, { spec: after }) => isEqualJson(before.selector, after.selector),
    isRelevant: isEndpointChange,
    onOwnerChange: onServiceChange,
    onPodChange,
  });
}
