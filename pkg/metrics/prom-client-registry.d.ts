// Only the registry is loaded: the package's main file also brings clustering, a push gateway and tracing, which cost
// some 50 ms at every start and are never used here.
declare module 'prom-client/lib/registry.js' {
  import type { Registry } from 'prom-client';
  const registry: typeof Registry;
  export default registry;
}
