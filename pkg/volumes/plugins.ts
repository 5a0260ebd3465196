/**
 * The volume plugins that were part of Kubernetes, and the CSI drivers that serve their volumes in 1.36. No gate turns
 * this off any more.
 */
const csiDrivers: ReadonlyMap<string, string> = new Map([
  ['kubernetes.io/aws-ebs', 'ebs.csi.aws.com'],
  ['kubernetes.io/azure-disk', 'disk.csi.azure.com'],
  ['kubernetes.io/azure-file', 'file.csi.azure.com'],
  ['kubernetes.io/cinder', 'cinder.csi.openstack.org'],
  ['kubernetes.io/gce-pd', 'pd.csi.storage.gke.io'],
  ['kubernetes.io/portworx-volume', 'pxd.portworx.com'],
  ['kubernetes.io/vsphere-volume', 'csi.vsphere.vmware.com'],
]);

/** The CSI driver that took over from a plugin; undefined for any other name. */
export function csiDriverOf(pluginName: string): string | undefined {
  return csiDrivers.get(pluginName);
}

/** Whether only Kubernetes itself may serve a provisioner of this name. */
export function isInTreeName(provisioner: string): boolean {
  return provisioner.startsWith('kubernetes.io/');
}
