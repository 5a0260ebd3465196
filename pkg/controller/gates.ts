/** Feature gates by their Kubernetes names, resolved to on or off before anything starts. */
export interface FeatureGates {
  isEnabled(gate: string): boolean;
}
