/**
 * The verbosity (`-v`) from which each level is written. Errors, warnings and `info` always are; `debug` and `trace` come
 * with the numbers that Kubernetes has agreed on for debugging and tracing, so `-v=2`, which most clusters run with,
 * stays quiet in steady state.
 */
export const verbosityOf = { error: 0, warn: 0, info: 0, debug: 4, trace: 5 } as const;
