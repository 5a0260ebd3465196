// Only the registry is loaded. The main file of the package also loads clustering, a push gateway and tracing, which
// take about 50 ms at every start and are not used here.
declare module 'prom-client/lib/registry.js' {
  import type { Registry } from 'prom-client';
  const registry: typeof Registry;
  export default registry;
}
