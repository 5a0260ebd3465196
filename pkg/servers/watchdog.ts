import { spawn } from 'node:child_process';

/**
 * Kills the servers of a cluster and removes its directory when this process ends, for whatever reason: the kernel
 * closes the pipe even after a SIGKILL or a crash, when no exit handler runs. Pid files in the directory name the
 * servers. Returns a function that stops the watchdog.
 */
export function watchOver(directory: string): () => void {
  const script = `
    trap '' INT TERM HUP
    read -r word
    [ "$word" = done ] && exit
    for file in "$1"/*.pid; do [ -f "$file" ] && kill -9 "$(cat "$file")"; done
    sleep 0.2
    rm -rf "$1"`;
  const watchdog = spawn('/bin/sh', ['-c', script, 'watchdog', directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // The watchdog must not keep this process alive.
  watchdog.unref();
  const pipe = watchdog.stdin;
  if ('unref' in pipe && typeof pipe.unref === 'function') pipe.unref();
  return () => {
    pipe.end('done\n');
  };
}
