/**
 * The lowest verbosity (`-v`) at which each level is written, by the logging conventions of Kubernetes: 3 for changes, 4
 * for debugging, 5 for tracing. Errors, warnings and `info` are always written. Most clusters run with `-v=2`.
 */
export const verbosityOf = { error: 0, warn: 0, info: 0, verbose: 3, debug: 4, trace: 5 } as const;
