#!/usr/bin/env node
import { readFileSync } from 'node:fs';

import { runCrdTypes } from './program.ts';

process.exitCode = runCrdTypes(process.argv.slice(2), {
  read: (path) => readFileSync(path === '-' ? 0 : path, 'utf8'),
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
});
