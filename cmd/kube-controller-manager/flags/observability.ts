import { flag } from './flag.ts';

export const metricsFlags = {
  'allow-metric-labels': flag(
    'stringToString',
    '',
    'Metrics.AllowLabels',
    'Values that a label may take, as metric,label=value,value',
  ),
  'allow-metric-labels-manifest': flag('string', '', 'Metrics.AllowLabelsManifest', 'The same, from a file'),
  'disabled-metrics': flag('strings', '', 'Metrics.Disabled', 'Metrics not to serve, by their full names'),
  'show-hidden-metrics-for-version': flag(
    'string',
    '',
    'Metrics.ShowHiddenForVersion',
    'Serve metrics that were hidden since this minor version',
  ),
};

export const logsFlags = {
  'log-flush-frequency': flag('duration', '5s', 'Logging.FlushFrequency', 'Longest time between log flushes'),
  'log-json-info-buffer-size': flag('quantity', '', 'Logging.JSON.InfoBufferSize', 'Buffer for info lines in JSON'),
  'log-json-split-stream': flag('bool', '', 'Logging.JSON.SplitStream', 'JSON: errors to stderr, the rest to stdout'),
  'log-text-info-buffer-size': flag('quantity', '', 'Logging.Text.InfoBufferSize', 'Buffer for info lines in text'),
  'log-text-split-stream': flag('bool', '', 'Logging.Text.SplitStream', 'Text: errors to stderr, the rest to stdout'),
  'logging-format': flag('string', 'text', 'Logging.Format', '"text" or "json"'),
  v: flag('Level', '', 'Logging.Verbosity', 'How much to log, from 0'),
  vmodule: flag('pattern=N,...', '', 'Logging.VModule', 'Verbosity by source file'),
};
