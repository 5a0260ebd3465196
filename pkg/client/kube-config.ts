/** All that this project takes from client-node. Named here one by one, so that a bundle leaves out the rest. */
export { KubeConfig } from '@kubernetes/client-node';
