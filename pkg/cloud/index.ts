export { ImplementedElsewhereError, RetryAfterError, retryAfterOf } from './errors.ts';
export type {
  CloudProvider,
  InstanceMetadata,
  Instances,
  LoadBalancers,
  LoadBalancerStatus,
  NodeAddress,
  Route,
  Routes,
} from './provider.ts';
