import type { FactsSpec } from '../../../pkg/controller/index.ts';
import { flag, type FlagTable } from '../../../pkg/flags/index.ts';

const signing = 'CSRSigningController';

const signingFlags = {
  'cluster-signing-cert-file': flag('string', {
    config: `${signing}.ClusterSigningCertFile`,
    help: 'CA certificate for all signers; excludes the flags of single signers',
  }),
  'cluster-signing-duration': flag('duration', {
    default: '8760h0m0s',
    config: `${signing}.ClusterSigningDuration`,
    help: 'Maximum duration of signed certificates',
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
};

/** Controllers of certificates and bootstrap tokens. */
export const certificateControllers: readonly FactsSpec<FlagTable>[] = [
  { name: 'bootstrap-signer-controller', aliases: ['bootstrapsigner'], onByDefault: false },
  { name: 'certificatesigningrequest-approving-controller', aliases: ['csrapproving'] },
  { name: 'certificatesigningrequest-cleaner-controller', aliases: ['csrcleaner'] },
  {
    name: 'certificatesigningrequest-signing-controller',
    aliases: ['csrsigning'],
    flags: signingFlags,
  },
  {
    name: 'kube-apiserver-serving-clustertrustbundle-publisher-controller',
    requiredGates: ['ClusterTrustBundle'],
  },
  { name: 'podcertificaterequest-cleaner-controller', requiredGates: ['PodCertificateRequest'] },
  { name: 'token-cleaner-controller', aliases: ['tokencleaner'], onByDefault: false },
];
