import { isEqualJson, type Cached, type ConfigMap, type Unsaved } from '../../pkg/api/index.ts';

export const configMapName = 'kube-root-ca.crt';

const descriptionAnnotation = 'kubernetes.io/description';
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the ' +
  'internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

/** The ConfigMap to write, given the present one; undefined if that is up to date. */
export function planPublication(
  namespace: string,
  present: Cached<ConfigMap> | undefined,
  rootCa: string,
): Unsaved<ConfigMap> | undefined {
  const data = { 'ca.crt': rootCa };
  if (present === undefined) {
    const annotations = { [descriptionAnnotation]: description };
    return { metadata: { namespace, name: configMapName, annotations }, data };
  }
  // Any description is accepted, but not an absent one.
  const isDescribed = (present.metadata.annotations?.[descriptionAnnotation] ?? '') !== '';
  if (isDescribed && isEqualJson(present.data, data)) return undefined;
  const annotations = { ...present.metadata.annotations, [descriptionAnnotation]: description };
  return { ...present, metadata: { ...present.metadata, annotations }, data } as Unsaved<ConfigMap>;
}
