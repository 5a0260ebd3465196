import { atLeast, flag, oneOf } from '../../../pkg/flags/index.ts';
import { inGroup } from './groups.ts';

export const metricsFlags = inGroup('Metrics', {
  'allow-metric-labels': flag('stringToString', {
    config: 'Metrics.AllowLabels',
    help: 'Allowed values of a label, as metric,label=value,value',
    noEffect: true,
  }),
  'allow-metric-labels-manifest': flag('string', {
    config: 'Metrics.AllowLabelsManifest',
    help: 'File with the allowed values of labels',
    noEffect: true,
  }),
  'disabled-metrics': flag('strings', {
    config: 'Metrics.Disabled',
    help: 'Metrics not to serve, by their full names',
  }),
  'show-hidden-metrics-for-version': flag('string', {
    config: 'Metrics.ShowHiddenForVersion',
    help: 'Serve metrics that are hidden since this minor version',
    noEffect: true,
  }),
});

export const logsFlags = inGroup('Logs', {
  'log-flush-frequency': flag('duration', {
    default: '5s',
    config: 'Logging.FlushFrequency',
    help: 'Maximum time between two log flushes',
    noEffect: true,
  }),
  'log-json-info-buffer-size': flag('quantity', {
    config: 'Logging.JSON.InfoBufferSize',
    help: 'Buffer size for info lines in JSON format',
    noEffect: true,
  }),
  'log-json-split-stream': flag('bool', {
    config: 'Logging.JSON.SplitStream',
    help: 'In JSON format, write errors to stderr and everything else to stdout',
  }),
  'log-text-info-buffer-size': flag('quantity', {
    config: 'Logging.Text.InfoBufferSize',
    help: 'Buffer size for info lines in text format',
    noEffect: true,
  }),
  'log-text-split-stream': flag('bool', {
    config: 'Logging.Text.SplitStream',
    help: 'In text format, write errors to stderr and everything else to stdout',
  }),
  'logging-format': flag('string', {
    default: 'text',
    config: 'Logging.Format',
    help: 'Log format: "text" or "json"',
    check: oneOf('text', 'json'),
  }),
  v: flag('Level', {
    config: 'Logging.Verbosity',
    help: 'Log verbosity, from 0',
    check: atLeast(0),
  }),
  vmodule: flag('pattern=N,...', {
    config: 'Logging.VModule',
    help: 'Log verbosity per source file',
    noEffect: true,
  }),
});
