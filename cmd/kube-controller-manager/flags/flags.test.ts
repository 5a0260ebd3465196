import { describe, expect, test } from 'vitest';

import { controllers } from '../../../controllers/registry.ts';
import { defineController, type ControllerDescriptor } from '../../../pkg/controller/index.ts';
import { flag, readFlag } from '../../../pkg/flags/index.ts';
import { collectFlags, DuplicateFlagError } from './index.ts';

const allFlags = collectFlags(controllers);

/** The flags of the Go binary: name, type and default as its help prints them. */
const reference = `
  contention-profiling bool
  profiling bool true
  enable-leader-migration bool
  leader-migration-config string
  allocate-node-cidrs bool
  cidr-allocator-type string RangeAllocator
  cloud-config string
  cloud-provider string
  cluster-cidr string
  cluster-name string kubernetes
  configure-cloud-routes bool true
  controller-shutdown-timeout duration 10s
  controller-start-interval duration
  controllers strings
  emulated-version strings
  external-cloud-volume-plugin string
  feature-gates colonSeparatedMultimapStringString
  kube-api-burst int32 30
  kube-api-content-type string application/vnd.kubernetes.protobuf
  kube-api-qps float32 20
  leader-elect bool true
  leader-elect-lease-duration duration 15s
  leader-elect-renew-deadline duration 10s
  leader-elect-resource-lock string leases
  leader-elect-resource-name string kube-controller-manager
  leader-elect-resource-namespace string kube-system
  leader-elect-retry-period duration 2s
  min-compatibility-version strings
  min-resync-period duration 12h0m0s
  node-monitor-period duration 5s
  route-reconciliation-period duration 10s
  use-service-account-credentials bool
  concurrent-service-syncs int32 1
  bind-address ip 0.0.0.0
  cert-dir string
  disable-http2-serving bool
  http2-max-streams-per-connection int
  permit-address-sharing bool
  permit-port-sharing bool
  secure-port int 10257
  tls-cert-file string
  tls-cipher-suites strings
  tls-curve-preferences int32Slice []
  tls-min-version string
  tls-private-key-file string
  tls-sni-cert-key namedCertKey []
  authentication-kubeconfig string
  authentication-skip-lookup bool
  authentication-token-webhook-cache-ttl duration 10s
  authentication-tolerate-lookup-failure bool
  client-ca-file string
  requestheader-allowed-names strings
  requestheader-client-ca-file string
  requestheader-extra-headers-prefix strings [x-remote-extra-]
  requestheader-group-headers strings [x-remote-group]
  requestheader-uid-headers strings
  requestheader-username-headers strings [x-remote-user]
  authorization-always-allow-paths strings [/healthz,/readyz,/livez]
  authorization-kubeconfig string
  authorization-webhook-cache-authorized-ttl duration 10s
  authorization-webhook-cache-unauthorized-ttl duration 10s
  attach-detach-reconcile-sync-period duration 1m0s
  disable-attach-detach-reconcile-sync bool
  disable-force-detach-on-timeout bool
  cluster-signing-cert-file string
  cluster-signing-duration duration 8760h0m0s
  cluster-signing-key-file string
  cluster-signing-kube-apiserver-client-cert-file string
  cluster-signing-kube-apiserver-client-key-file string
  cluster-signing-kubelet-client-cert-file string
  cluster-signing-kubelet-client-key-file string
  cluster-signing-kubelet-serving-cert-file string
  cluster-signing-kubelet-serving-key-file string
  cluster-signing-legacy-unknown-cert-file string
  cluster-signing-legacy-unknown-key-file string
  concurrent-deployment-syncs int32 5
  concurrent-device-taint-eviction-syncs int32 8
  concurrent-resourceclaim-syncs int32 50
  concurrent-statefulset-syncs int32 5
  concurrent-daemonset-syncs int32 2
  concurrent-endpoint-syncs int32 5
  endpoint-updates-batch-period duration
  concurrent-service-endpoint-syncs int32 5
  endpointslice-updates-batch-period duration
  max-endpoints-per-slice int32 100
  mirroring-concurrent-service-endpoint-syncs int32 5
  mirroring-endpointslice-updates-batch-period duration
  mirroring-max-endpoints-per-subset int32 1000
  concurrent-ephemeralvolume-syncs int32 5
  concurrent-gc-syncs int32 20
  enable-garbage-collector bool true
  concurrent-horizontal-pod-autoscaler-syncs int32 5
  horizontal-pod-autoscaler-cpu-initialization-period duration 5m0s
  horizontal-pod-autoscaler-downscale-stabilization duration 5m0s
  horizontal-pod-autoscaler-initial-readiness-delay duration 30s
  horizontal-pod-autoscaler-sync-period duration 15s
  horizontal-pod-autoscaler-tolerance float 0.1
  concurrent-job-syncs int32 5
  concurrent-cron-job-syncs int32 5
  legacy-service-account-token-clean-up-period duration 8760h0m0s
  concurrent-namespace-syncs int32 10
  namespace-sync-period duration 5m0s
  node-cidr-mask-size int32
  node-cidr-mask-size-ipv4 int32
  node-cidr-mask-size-ipv6 int32
  service-cluster-ip-range string
  large-cluster-size-threshold int32 50
  node-eviction-rate float32 0.1
  node-monitor-grace-period duration 50s
  node-startup-grace-period duration 1m0s
  secondary-node-eviction-rate float32 0.01
  unhealthy-zone-threshold float32 0.55
  enable-dynamic-provisioning bool true
  enable-hostpath-provisioner bool
  flex-volume-plugin-dir string /usr/libexec/kubernetes/kubelet-plugins/volume/exec/
  pv-recycler-increment-timeout-nfs int32 30
  pv-recycler-minimum-timeout-hostpath int32 60
  pv-recycler-minimum-timeout-nfs int32 300
  pv-recycler-pod-template-filepath-hostpath string
  pv-recycler-pod-template-filepath-nfs string
  pv-recycler-timeout-increment-hostpath int32 30
  pvclaimbinder-sync-period duration 15s
  terminated-pod-gc-threshold int32 12500
  concurrent-replicaset-syncs int32 5
  concurrent-rc-syncs int32 5
  concurrent-resource-quota-syncs int32 5
  resource-quota-sync-period duration 5m0s
  concurrent-serviceaccount-token-syncs int32 5
  root-ca-file string
  service-account-private-key-file string
  concurrent-ttl-after-finished-syncs int32 5
  concurrent-validating-admission-policy-status-syncs int32 5
  allow-metric-labels stringToString []
  allow-metric-labels-manifest string
  disabled-metrics strings
  show-hidden-metrics-for-version string
  log-flush-frequency duration 5s
  log-json-info-buffer-size quantity
  log-json-split-stream bool
  log-text-info-buffer-size quantity
  log-text-split-stream bool
  logging-format string text
  v Level
  vmodule pattern=N,...
  kubeconfig string
  master string
  help bool
  version version[=true]`;

describe('the table of flags', () => {
  const rows = reference
    .trim()
    .split('\n')
    .map((line) => line.trim().split(' '));
  for (const [name = '', type = '', initial = ''] of rows) {
    if (name === 'help') continue; // commander's own
    test(`--${name} has the type and default of the Go binary`, () => {
      const declared = allFlags.get(name);
      expect(declared?.type).toBe(type);
      if (declared === undefined || name === 'controllers' || name === 'version') return; // printed apart from the table
      const printed = initial === '[]' ? '' : initial.replace(/^\[(.*)\]$/, '$1');
      const expected = readFlag(name, declared, printed === '' ? [] : [printed]);
      expect(readFlag(name, declared, undefined)).toEqual(expected);
    });
  }

  test('marks as its own exactly the flags that the Go binary does not have', () => {
    const names = new Set(rows.map(([name]) => name));
    const own = [...allFlags].filter(([, { own: marked }]) => marked === true).map(([name]) => name);
    expect([...allFlags.keys()].filter((name) => !names.has(name))).toEqual(own);
  });

  test('gives every setting its own place in the configuration file', () => {
    const places = [...allFlags.values()].flatMap(({ config }) => config ?? []);
    expect(new Set(places).size).toBe(places.length);
    expect(places.filter((place) => places.some((other) => other.startsWith(`${place}.`)))).toEqual([]);
  });
});

function withFlags(name: string, flags: ControllerDescriptor['flags']): ControllerDescriptor {
  return defineController({ name, flags, create: () => ({ name, run: async () => {} }) });
}

describe('collectFlags', () => {
  const shared = flag('string', { help: 'shared' });

  test('takes a flag that two controllers share', () => {
    const flags = collectFlags([withFlags('a-controller', { shared }), withFlags('b-controller', { shared })]);
    expect(flags.get('shared')).toMatchObject({ group: 'A-controller', help: 'shared' });
  });

  const twice = [
    { name: 'by two controllers', list: [withFlags('a', { x: shared }), withFlags('b', { x: { ...shared } })] },
    { name: 'by the process and a controller', list: [withFlags('a', { kubeconfig: shared })] },
    {
      name: 'by a controller and one for cloud providers',
      list: [withFlags('a', { 'concurrent-service-syncs': shared })],
    },
  ];
  for (const { name, list } of twice) {
    test(`refuses a flag that is declared ${name}`, () => expect(() => collectFlags(list)).toThrow(DuplicateFlagError));
  }

  test('orders by section, then by name, with unknown controllers after those of Kubernetes', () => {
    const flags = collectFlags([
      ...controllers,
      withFlags('zoo-controller', { 'b-zoo': shared, 'a-zoo': { ...shared } }),
    ]);
    const names = [...flags.keys()];
    const places = ['profiling', 'kubeconfig', 'a-zoo', 'b-zoo', 'max-endpoints-per-slice', 'logging-format'].sort(
      (a, b) => names.indexOf(a) - names.indexOf(b),
    );
    expect(places).toEqual(['profiling', 'max-endpoints-per-slice', 'a-zoo', 'b-zoo', 'logging-format', 'kubeconfig']);
  });

  test('marks flags of controllers for cloud providers as without effect', () => {
    expect(allFlags.get('concurrent-service-syncs')?.noEffect).toBe(true);
    expect(allFlags.get('concurrent-job-syncs')?.noEffect).toBeUndefined();
  });
});
