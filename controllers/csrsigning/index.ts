import { defineController } from '../../pkg/controller/index.ts';
import { flag } from '../../pkg/flags/index.ts';
import { createCsrSigning } from './csr-signing.ts';
import { checkSigningFiles, selectSigners } from './signers.ts';

const name = 'certificatesigningrequest-signing-controller';
const signing = 'CSRSigningController';

export const csrSigning = defineController({
  name,
  aliases: ['csrsigning'],
  flags: {
    'cluster-signing-cert-file': flag('string', {
      config: `${signing}.ClusterSigningCertFile`,
      help: 'CA certificate for all signers; excludes the flags of single signers',
    }),
    'cluster-signing-duration': flag('duration', {
      default: '8760h0m0s',
      config: `${signing}.ClusterSigningDuration`,
      help: 'Maximum duration of signed certificates. A request may ask for less with spec.expirationSeconds',
    }),
    'cluster-signing-key-file': flag('string', {
      config: `${signing}.ClusterSigningKeyFile`,
      help: 'CA key for all signers; excludes the flags of single signers',
    }),
    'cluster-signing-kube-apiserver-client-cert-file': flag('string', {
      config: `${signing}.KubeAPIServerClientSignerConfiguration.CertFile`,
      help: 'CA certificate for kubernetes.io/kube-apiserver-client',
    }),
    'cluster-signing-kube-apiserver-client-key-file': flag('string', {
      config: `${signing}.KubeAPIServerClientSignerConfiguration.KeyFile`,
      help: 'CA key for kubernetes.io/kube-apiserver-client',
    }),
    'cluster-signing-kubelet-client-cert-file': flag('string', {
      config: `${signing}.KubeletClientSignerConfiguration.CertFile`,
      help: 'CA certificate for kubernetes.io/kube-apiserver-client-kubelet',
    }),
    'cluster-signing-kubelet-client-key-file': flag('string', {
      config: `${signing}.KubeletClientSignerConfiguration.KeyFile`,
      help: 'CA key for kubernetes.io/kube-apiserver-client-kubelet',
    }),
    'cluster-signing-kubelet-serving-cert-file': flag('string', {
      config: `${signing}.KubeletServingSignerConfiguration.CertFile`,
      help: 'CA certificate for kubernetes.io/kubelet-serving',
    }),
    'cluster-signing-kubelet-serving-key-file': flag('string', {
      config: `${signing}.KubeletServingSignerConfiguration.KeyFile`,
      help: 'CA key for kubernetes.io/kubelet-serving',
    }),
    'cluster-signing-legacy-unknown-cert-file': flag('string', {
      config: `${signing}.LegacyUnknownSignerConfiguration.CertFile`,
      help: 'CA certificate for kubernetes.io/legacy-unknown',
    }),
    'cluster-signing-legacy-unknown-key-file': flag('string', {
      config: `${signing}.LegacyUnknownSignerConfiguration.KeyFile`,
      help: 'CA key for kubernetes.io/legacy-unknown',
    }),
  },
  check: checkSigningFiles,
  create(context, options) {
    const signers = selectSigners(options);
    if (signers.length === 0) {
      context.logger.info(
        {},
        '--cluster-signing-cert-file and --cluster-signing-key-file are not set: nothing is signed',
      );
      return { name, run: () => Promise.resolve() };
    }
    return createCsrSigning(context, { signers, maxDurationMs: options['cluster-signing-duration'] });
  },
});
