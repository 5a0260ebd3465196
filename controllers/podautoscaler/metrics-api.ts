import * as z from 'zod';

import { ExactInteger, parseTime, zeroTimeMs } from '../../pkg/api/index.ts';
import { milliInt64 } from '../../pkg/quantities/index.ts';
import { parseDuration } from '../../pkg/time/index.ts';
import { MetricError, type PodMetric, type PodMetrics } from './metric-reading.ts';

/** Without a window, a custom metric counts as measured over a minute. */
const defaultWindowMs = 60_000;

/** The answer of a metrics API is not what was asked for. */
export class UnusableAnswerError extends Error {
  override readonly name = 'UnusableAnswerError';
  readonly reason = 'UnusableAnswer';
}

const quantitySchema = z.unknown().transform((value, context) => {
  const thousandths = milliOf(value);
  if (thousandths !== undefined) return thousandths;
  context.addIssue({ code: 'custom', message: `${JSON.stringify(value)} is not a quantity` });
  return z.NEVER;
});
/** JSON may have a quantity as text or as a number. */
function milliOf(value: unknown): bigint | undefined {
  if (value === null || value === undefined) return 0n;
  const isNumber = typeof value === 'number' || value instanceof ExactInteger;
  return isNumber || typeof value === 'string' ? milliInt64(String(value)) : undefined;
}
const timeSchema = z
  .string()
  .nullish()
  .transform((value) => parseTime(value) ?? zeroTimeMs);
const durationSchema = z
  .string()
  .nullish()
  .transform((value, context) => {
    try {
      return parseDuration(value ?? '0');
    } catch {
      context.addIssue({ code: 'custom', message: `${JSON.stringify(value)} is not a duration` });
      return z.NEVER;
    }
  });

const podMetricsSchema = z.object({
  items: z
    .array(
      z.object({
        metadata: z.object({ name: z.string() }),
        timestamp: timeSchema,
        window: durationSchema,
        containers: z
          .array(z.object({ name: z.string(), usage: z.record(z.string(), quantitySchema).nullish() }))
          .nullish(),
      }),
    )
    .nullish(),
});

const metricValuesSchema = z.object({
  items: z
    .array(
      z.object({
        describedObject: z.object({ name: z.string().optional() }),
        timestamp: timeSchema,
        windowSeconds: z.coerce.number().nullish(), // v1beta2
        window: z.coerce.number().nullish(), // v1beta1
        value: quantitySchema,
      }),
    )
    .nullish(),
});

const externalSchema = z.object({ items: z.array(z.object({ value: quantitySchema })).nullish() });

/** The usage of pods in a PodMetricsList: of one container, or of all. A pod without the resource is left out. */
export function parsePodUsage(list: unknown, resource: string, container: string | undefined): PodMetrics {
  const items = parse(podMetricsSchema, list).items ?? [];
  if (items.length === 0) throw new MetricError('no metrics returned from resource metrics API');
  const metrics = new Map<string, PodMetric>();
  for (const { metadata, timestamp: timestampMs, window: windowMs, containers } of items) {
    const counted =
      container === undefined ? containers : containers?.filter(({ name }) => name === container).slice(0, 1);
    const usages = (counted ?? []).map(({ usage }) => new Map(Object.entries(usage ?? {})).get(resource));
    if (usages.length === 0 || usages.includes(undefined)) continue;
    const total = usages.reduce<bigint>((sum, usage) => sum + (usage ?? 0n), 0n);
    metrics.set(metadata.name, { timestampMs, windowMs, value: BigInt.asIntN(64, total) });
  }
  return metrics;
}

/** A MetricValueList about pods. */
export function parsePodValues(list: unknown): PodMetrics {
  const items = parse(metricValuesSchema, list).items ?? [];
  if (items.length === 0) throw new MetricError('no metrics returned from custom metrics API');
  return new Map(
    items.map(({ describedObject, timestamp: timestampMs, windowSeconds, window, value }) => {
      const seconds = windowSeconds ?? window ?? undefined;
      const windowMs = seconds === undefined ? defaultWindowMs : seconds * 1000;
      return [describedObject.name ?? '', { timestampMs, windowMs, value }];
    }),
  );
}

/** A MetricValueList about one object. */
export function parseObjectValue(list: unknown): bigint {
  const items = parse(metricValuesSchema, list).items ?? [];
  const [only] = items;
  if (only === undefined || items.length > 1) {
    const count = `${items.length} results when we asked for exactly one`;
    throw new UnusableAnswerError(`the custom metrics API server returned ${count}`);
  }
  return only.value;
}

/** An ExternalMetricValueList. */
export function parseExternalValues(list: unknown): bigint[] {
  const items = parse(externalSchema, list).items ?? [];
  if (items.length === 0) throw new MetricError('no metrics returned from external metrics API');
  return items.map(({ value }) => value);
}

/** A metrics API is a program of somebody else: its answer may be anything. */
function parse<T>(schema: z.ZodType<T>, answer: unknown): T {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = (issue?.path ?? []).join('.');
  throw new UnusableAnswerError(
    `the answer cannot be read: ${place === '' ? '' : `${place}: `}${issue?.message ?? ''}`,
  );
}
