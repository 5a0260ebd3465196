import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { Clock } from '../time/index.ts';
import { defineCounter, defineGauge, defineHistogram } from './families.ts';
import type { MetricsRegistry } from './registry.ts';

/** The resource usage of the process, read at each scrape. Without /proc, the metrics that need it are omitted. */
export function defineProcessMetrics(registry: MetricsRegistry): void {
  const counter = counterOn(registry);
  const gauge = gaugeOn(registry);
  counter('process_cpu_seconds_total', 'CPU time used, in user and system mode.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  gauge('process_start_time_seconds', 'When the process started, in seconds since 1970.', () => {
    return performance.timeOrigin / 1000;
  });
  gauge('process_resident_memory_bytes', 'Memory held in RAM.', () => process.memoryUsage.rss());
  if (!existsSync('/proc/self/status')) return;

  gauge('process_virtual_memory_bytes', 'Address space in use.', () => virtualMemoryIn(readProc('status')));
  gauge('process_virtual_memory_max_bytes', 'Address space that may be used.', () => {
    return softLimitIn(readProc('limits'), 'Max address space');
  });
  gauge('process_open_fds', 'Open file descriptors.', () => readdirSync('/proc/self/fd').length);
  gauge('process_max_fds', 'File descriptors that may be open.', () =>
    softLimitIn(readProc('limits'), 'Max open files'),
  );
  counter('process_network_receive_bytes_total', "Bytes received in the process's network namespace.", () => {
    return octetsIn(readProc('net/netstat'), 'InOctets');
  });
  counter('process_network_transmit_bytes_total', "Bytes sent in the process's network namespace.", () => {
    return octetsIn(readProc('net/netstat'), 'OutOctets');
  });
}

/** Metrics of the JavaScript engine and its event loop, read at each scrape. */
export function defineRuntimeMetrics(registry: MetricsRegistry): void {
  const counter = counterOn(registry);
  const gauge = gaugeOn(registry);
  gauge('nodejs_heap_size_used_bytes', 'JavaScript heap in use.', () => process.memoryUsage().heapUsed);
  gauge('nodejs_heap_size_total_bytes', 'JavaScript heap reserved.', () => process.memoryUsage().heapTotal);
  gauge('nodejs_external_memory_bytes', 'Memory of buffers outside the JavaScript heap.', () => {
    return process.memoryUsage().external;
  });
  counter(
    'nodejs_eventloop_active_seconds_total',
    'Time the event loop was busy: at a rate of 1 it is saturated.',
    () => {
      return performance.eventLoopUtilization().active / 1000;
    },
  );
}

const LAG_SAMPLE_MS = 250;

/**
 * Measures how late timers fire, until the signal aborts. A long computation delays every controller, probe and lease
 * renewal by this much.
 */
export async function runEventLoopLagMeter(
  registry: MetricsRegistry,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const lag = defineHistogram(registry, {
    name: 'nodejs_eventloop_lag_seconds',
    help: 'How late a timer fires, sampled four times a second.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  });
  while (!signal.aborted) {
    const startedMs = clock.monotonic();
    try {
      await clock.sleep(LAG_SAMPLE_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    lag.observe(Math.max(0, clock.monotonic() - startedMs - LAG_SAMPLE_MS) / 1000);
  }
}

/** `VmSize` of /proc/self/status, in bytes. */
export function virtualMemoryIn(status: string): number {
  return Number(/^VmSize:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) * 1024;
}

/** A soft limit of /proc/self/limits. `unlimited` is the largest number of the kernel. */
export function softLimitIn(limits: string, name: string): number {
  const line = limits.split('\n').find((candidate) => candidate.startsWith(name)) ?? '';
  const [soft] = line.slice(name.length).trim().split(/\s+/);
  return soft === 'unlimited' ? 2 ** 64 : Number(soft === '' ? Number.NaN : soft);
}

/** A column of the `IpExt` table of /proc/self/net/netstat, which has a line of names and a line of values. */
export function octetsIn(netstat: string, column: 'InOctets' | 'OutOctets'): number {
  const [names = '', values = ''] = netstat.split('\n').filter((line) => line.startsWith('IpExt:'));
  return Number(values.split(' ')[names.split(' ').indexOf(column)] ?? Number.NaN);
}

function readProc(file: string): string {
  return readFileSync(`/proc/self/${file}`, 'utf8');
}

type DefineRead = (name: string, help: string, read: () => number) => void;

function counterOn(registry: MetricsRegistry): DefineRead {
  return (name, help, read) => defineCounter(registry, { name, help }).readFrom(read);
}

function gaugeOn(registry: MetricsRegistry): DefineRead {
  return (name, help, read) => defineGauge(registry, { name, help }).readFrom(read);
}
