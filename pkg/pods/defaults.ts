import type { Container, Pod, PodSpec } from '../api/index.ts';

type Volume = NonNullable<PodSpec['volumes']>[number];
type Probe = NonNullable<Container['readinessProbe']>;

const fileMode = 0o644;

/** Sets the defaults that pods and templates share. Controllers compare the two. */
export function defaultPodSpec(spec: PodSpec): void {
  spec.dnsPolicy ??= 'ClusterFirst';
  spec.restartPolicy ??= 'Always';
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  spec.schedulerName ??= 'default-scheduler';
  // `serviceAccount` is the deprecated name of `serviceAccountName`. Both are always set together.
  const account = spec.serviceAccountName ?? spec.serviceAccount;
  if (account !== undefined) spec.serviceAccountName = spec.serviceAccount = account;
  for (const container of containersOf(spec)) defaultContainer(container);
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
}

/** Sets the defaults of a pod that a template does not get. */
export function defaultPod({ spec }: Pod): void {
  defaultPodSpec(spec);
  if (spec.hostNetwork === true) defaultHostPorts(spec);
  spec.enableServiceLinks ??= true;
  for (const { resources } of containersOf(spec)) {
    if (resources?.limits !== undefined) resources.requests = { ...resources.limits, ...resources.requests };
  }
}

export function containersOf(spec: PodSpec): Container[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
}

function defaultContainer(container: Container): void {
  container.imagePullPolicy ??= isLatest(container.image ?? '') ? 'Always' : 'IfNotPresent';
  container.terminationMessagePath ??= '/dev/termination-log';
  container.terminationMessagePolicy ??= 'File';
  for (const port of container.ports ?? []) port.protocol ??= 'TCP';
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.fieldRef !== undefined) valueFrom.fieldRef.apiVersion ??= 'v1';
  }
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) {
    if (probe !== undefined) defaultProbe(probe);
  }
  defaultHttpGet(container.lifecycle?.postStart?.httpGet);
  defaultHttpGet(container.lifecycle?.preStop?.httpGet);
}

/** An image with neither tag nor digest has the tag `latest`. */
function isLatest(image: string): boolean {
  const [name = '', digest] = image.split('@', 2);
  const tag = /:([^/:]+)$/.exec(name)?.[1];
  return tag === undefined ? digest === undefined : tag === 'latest';
}

function defaultProbe(probe: Probe): void {
  probe.timeoutSeconds ??= 1;
  probe.periodSeconds ??= 10;
  probe.successThreshold ??= 1;
  probe.failureThreshold ??= 3;
  defaultHttpGet(probe.httpGet);
  if (probe.grpc !== undefined) probe.grpc.service ??= '';
}

function defaultHttpGet(action: Probe['httpGet']): void {
  if (action === undefined) return;
  action.path ??= '/';
  action.scheme ??= 'HTTP';
}

function defaultVolume(volume: Volume): void {
  if (Object.keys(volume).length === 1) volume.emptyDir = {};
  if (volume.secret !== undefined) volume.secret.defaultMode ??= fileMode;
  if (volume.configMap !== undefined) volume.configMap.defaultMode ??= fileMode;
  if (volume.hostPath !== undefined) volume.hostPath.type ??= '';
  if (volume.downwardAPI !== undefined) {
    volume.downwardAPI.defaultMode ??= fileMode;
    for (const { fieldRef } of volume.downwardAPI.items ?? []) if (fieldRef) fieldRef.apiVersion ??= 'v1';
  }
  if (volume.ephemeral?.volumeClaimTemplate !== undefined) {
    volume.ephemeral.volumeClaimTemplate.spec.volumeMode ??= 'Filesystem';
  }
  if (volume.projected === undefined) return;
  volume.projected.defaultMode ??= fileMode;
  for (const source of volume.projected.sources ?? []) {
    if (source.serviceAccountToken !== undefined) source.serviceAccountToken.expirationSeconds ??= 3600;
    for (const { fieldRef } of source.downwardAPI?.items ?? []) if (fieldRef) fieldRef.apiVersion ??= 'v1';
  }
}

/** A pod on the network of its host listens on the ports of the host. */
function defaultHostPorts(spec: PodSpec): void {
  for (const container of containersOf(spec)) {
    for (const port of container.ports ?? []) port.hostPort ??= port.containerPort;
  }
}
