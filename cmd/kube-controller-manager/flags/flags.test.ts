import { describe, expect, test } from 'vitest';

import { allFlags, FlagError, formatValue, initialValue, parseFlag, type FlagType } from './index.ts';

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
      const flag = allFlags.get(name);
      expect(flag?.type).toBe(type);
      if (flag === undefined || name === 'controllers' || name === 'version') return; // printed apart from the table
      const printed = initial === '[]' ? '' : initial.replace(/^\[(.*)\]$/, '$1');
      const expected = parseFlag(name, flag.type, printed === '' ? [] : [printed]);
      expect(initialValue(name, flag)).toEqual(expected);
    });
  }

  test('adds nothing but --config to the flags of the Go binary', () => {
    const names = new Set(rows.map(([name]) => name));
    expect([...allFlags.keys()].filter((name) => !names.has(name))).toEqual(['config']);
  });

  test('gives every setting its own place in the configuration file', () => {
    const places = [...allFlags.values()].map(({ config }) => config).filter((place) => place !== '');
    expect(new Set(places).size).toBe(places.length);
    expect(places.filter((place) => places.some((other) => other.startsWith(`${place}.`)))).toEqual([]);
  });
});

const values: { type: FlagType; given: string[]; expected: unknown }[] = [
  { type: 'bool', given: ['T'], expected: true },
  { type: 'bool', given: ['true', '0'], expected: false },
  { type: 'duration', given: ['1m30s'], expected: 90_000 },
  { type: 'duration', given: [], expected: 0 },
  { type: 'int32', given: ['-5'], expected: -5 },
  { type: 'int32', given: ['0x10'], expected: 16 },
  { type: 'float32', given: ['0.55'], expected: 0.55 },
  { type: 'strings', given: ['a,b', 'c'], expected: ['a', 'b', 'c'] },
  { type: 'strings', given: ['"a,b",c'], expected: ['a,b', 'c'] },
  { type: 'strings', given: [''], expected: [] },
  { type: 'int32Slice', given: ['29,23'], expected: [29, 23] },
  { type: 'stringToString', given: ['a=1', 'b=2,c=3'], expected: { a: '1', b: '2', c: '3' } },
  { type: 'quantity', given: ['2Ki'], expected: 2048 },
  {
    type: 'namedCertKey',
    given: ['a.crt,a.key:x.io,y.io', 'b.crt,b.key'],
    expected: ['a.crt,a.key:x.io,y.io', 'b.crt,b.key'],
  },
];

const refused: { type: FlagType; given: string; why: RegExp }[] = [
  { type: 'bool', given: 'yes', why: /true or false/ },
  { type: 'duration', given: '10', why: /duration/ },
  { type: 'duration', given: '5 minutes', why: /duration/ },
  { type: 'int32', given: '2147483648', why: /between/ },
  { type: 'int32', given: '1.5', why: /whole number/ },
  { type: 'float', given: '', why: /number/ },
  { type: 'ip', given: 'localhost', why: /IP address/ },
  { type: 'quantity', given: '1 GB', why: /size/ },
  { type: 'stringToString', given: 'a', why: /key=value/ },
  { type: 'namedCertKey', given: 'a.crt', why: /certfile,keyfile/ },
];

describe('parseFlag', () => {
  for (const { type, given, expected } of values) {
    test(`reads ${type} ${JSON.stringify(given)}`, () => expect(parseFlag('x', type, given)).toEqual(expected));
  }
  for (const { type, given, why } of refused) {
    test(`refuses ${type} "${given}" and names flag and value`, () => {
      const parse = (): unknown => parseFlag('some-flag', type, [given]);
      expect(parse).toThrow(FlagError);
      expect(parse).toThrow(why);
      expect(parse).toThrow(`invalid argument "${given}" for "--some-flag" flag: `);
    });
  }
});

describe('formatValue', () => {
  test('writes durations and lists as flags do', () => {
    expect(formatValue('duration', 43_200_000)).toBe('12h0m0s');
    expect(formatValue('strings', ['a', 'b'])).toBe('[a,b]');
  });
});
