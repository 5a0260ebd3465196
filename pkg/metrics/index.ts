export type { Registry as MetricsRegistry } from 'prom-client';
