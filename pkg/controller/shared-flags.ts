import { parseCertificates } from '../certificates/index.ts';
import { flag } from '../flags/index.ts';

/** Flags that several controllers read. Each of these controllers lists the flag in its own table. */
export const sharedFlags = {
  'root-ca-file': flag('string', {
    group: 'Serviceaccount-controller',
    config: 'SAController.RootCAFile',
    help: 'CA certificates that pods use to verify the API server: part of token Secrets and of the kube-root-ca.crt ConfigMap',
    content: parseCertificates,
  }),
};
