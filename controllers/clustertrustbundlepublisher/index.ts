import { parseCertificates } from '../../pkg/certificates/index.ts';
import { defineController, sharedFlags } from '../../pkg/controller/index.ts';
import { readFlagFile } from '../../pkg/flags/index.ts';
import { createTrustBundlePublisher } from './trust-bundle-publisher.ts';

export const clusterTrustBundlePublisher = defineController({
  name: 'kube-apiserver-serving-clustertrustbundle-publisher-controller',
  requiredGates: ['ClusterTrustBundle'],
  flags: { 'root-ca-file': sharedFlags['root-ca-file'] },
  create: (context, options) =>
    createTrustBundlePublisher(
      context,
      readFlagFile(options['root-ca-file'], parseCertificates) ?? context.serverAuthority ?? '',
    ),
});
