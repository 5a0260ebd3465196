import { readFileSync } from 'node:fs';

import { load } from 'js-yaml';
import * as z from 'zod';

import type { ClusterAccess } from '../cluster/index.ts';
import { deployFile } from './deployment-account.ts';
import { managerIdentity } from './manager.ts';

const staticPod = z.object({
  spec: z.object({ containers: z.tuple([z.object({ command: z.array(z.string()) })]) }),
});

/** The command line that kubeadm writes, from `deploy/static-pod.yaml`. */
export function staticPodCommand(): readonly string[] {
  const { spec } = staticPod.parse(load(readFileSync(deployFile('static-pod.yaml'), 'utf8')));
  return spec.containers[0].command;
}

/** Its flags, with the files of a test cluster where a control-plane node has those of kubeadm. */
export function staticPodFlags(cluster: ClusterAccess): readonly string[] {
  const { files } = cluster;
  const places = new Map([
    ['/etc/kubernetes/controller-manager.conf', cluster.kubeconfig(managerIdentity)],
    ['/etc/kubernetes/pki/ca.crt', files.ca],
    ['/etc/kubernetes/pki/ca.key', files.caKey],
    ['/etc/kubernetes/pki/front-proxy-ca.crt', files.frontProxyCa],
    ['/etc/kubernetes/pki/sa.key', files.serviceAccountKey],
  ]);
  const [, ...flags] = staticPodCommand();
  return flags.map((flag) => flag.replace(/\/etc\/.*/, (path) => places.get(path) ?? path));
}
