import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { ConfigError } from './errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Which kubeconfigs to read. None: the service account of the pod. */
export interface FoundKubeconfig {
  readonly paths: readonly string[];
}

/**
 * Looks where kubectl does: at the given path alone; else at the files that KUBECONFIG names, without those that do not
 * exist; else at `~/.kube/config`; else at the service account of the pod. Throws `ConfigError` if there is nothing.
 */
export function findKubeconfig(path: string | undefined, environment: Environment): FoundKubeconfig {
  if (path !== undefined && path !== '') return { paths: [path] };
  const named = (environment['KUBECONFIG'] ?? '').split(delimiter).filter((each) => each !== '');
  const home = environment['HOME'] ?? environment['USERPROFILE'];
  const candidates = named.length > 0 || home === undefined ? named : [join(home, '.kube', 'config')];
  const paths = [...new Set(candidates)].filter((each) => existsSync(each));
  if (paths.length > 0 || environment['KUBERNETES_SERVICE_HOST'] !== undefined) return { paths };
  const tried = candidates.length === 0 ? 'KUBECONFIG is not set' : `${candidates.join(', ')}: no such file`;
  throw new ConfigError(`no kubeconfig: ${tried}, and this is not a pod with a service account`);
}
