/**
 * Compares our controller manager with the Go one: the same workloads on the same kind of cluster, alternating, in several
 * rounds. Writes the medians as a table, JSON and a chart. `npm run bench -- --help` lists the options.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { controllers } from '../../../controllers/registry.ts';
import { measureAutoscalers } from './autoscalers.ts';
import { measureDaemons } from './daemons.ts';
import { warmUp, type ManagerName } from './manager-process.ts';
import { measureDay, measureStarts, measureStorm, type Conditions, type Measurement } from './measure.ts';
import { computeRows, formatChart, formatRequests, formatTable } from './report.ts';
import { measureQuotas } from './quotas.ts';
import { measureScale } from './scale.ts';
import { measureVolumes } from './volumes.ts';

const help = `npm run bench -- [options]
  --rounds N      rounds, of which the medians are shown (default 3)
  --scale X       factor on the size of every workload (default 1)
  --only LIST     of start, day, storm, daemons, quotas, autoscalers, volumes, scale (default all but scale, which needs 8 GB
                  of memory at full size)
  --match TEXT    of the day, only workloads with this text in their names; they must not need the objects of others
  --rate LIST     of unthrottled, default (default both; the latter with a tenth of each size, since the Go binary
                  then sends 20 requests a second)
  --calm SECONDS  how long to watch a manager that has nothing to do (default 60; an hour is 3600)
  --out DIR       where results.json and a chart for each rate go (default .cache/bench)
`;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    scale: { type: 'string', default: '1' },
    only: { type: 'string', default: 'start,day,storm,daemons,quotas,autoscalers,volumes' },
    match: { type: 'string', default: '' },
    rate: { type: 'string', default: 'unthrottled,default' },
    calm: { type: 'string', default: '60' },
    out: { type: 'string', default: join(import.meta.dirname, '../../../.cache/bench') },
    help: { type: 'boolean', default: false },
  },
});

const rates: Readonly<Record<string, { readonly flags: readonly string[]; readonly share: number }>> = {
  unthrottled: { flags: ['--kube-api-qps=10000', '--kube-api-burst=10000'], share: 1 },
  default: { flags: [], share: 0.1 },
};

async function runRound(round: number, only: readonly string[], conditions: Conditions): Promise<Measurement[]> {
  const order: ManagerName[] = round % 2 === 0 ? ['ours', 'go'] : ['go', 'ours'];
  const results: Measurement[] = [];
  if (only.includes('start')) results.push(...(await measureStarts(order, conditions, Number(values.calm))));
  if (only.includes('scale')) results.push(...(await measureScale(order, conditions, Number(values.calm))));
  for (const manager of order) {
    if (only.includes('day')) results.push(...(await measureDay(manager, conditions)));
    if (only.includes('storm')) results.push(...(await measureStorm(manager, conditions)));
    if (only.includes('daemons')) results.push(...(await measureDaemons(manager, conditions)));
    if (only.includes('quotas')) results.push(...(await measureQuotas(manager, conditions)));
    if (only.includes('autoscalers')) results.push(...(await measureAutoscalers(manager, conditions)));
    if (only.includes('volumes')) results.push(...(await measureVolumes(manager, conditions)));
  }
  return results;
}

async function main(): Promise<void> {
  await warmUp();
  const all: Record<string, Measurement[]> = {};
  for (const rate of values.rate.split(',')) {
    const setting = rates[rate];
    if (setting === undefined) throw new Error(`--rate: ${rate} is not one of ${Object.keys(rates).join(', ')}`);
    const names = controllers.map(({ name }) => name);
    const { flags, share } = setting;
    const scale = Number(values.scale) * share;
    const conditions: Conditions = { controllers: names, flags, scale, nodes: 20, match: values.match };
    const measurements: Measurement[] = [];
    all[rate] = measurements;
    // The nodes run in this process, whose code gets faster with use: what comes first would have the slower nodes.
    if (/day|storm|daemons/.test(values.only)) await measureDay('ours', { ...conditions, scale: 0.1 });
    for (let round = 0; round < Number(values.rounds); round++) {
      measurements.push(...(await runRound(round, values.only.split(','), conditions)));
      console.log(
        `${rate}, round ${round + 1}\n${formatTable(computeRows(measurements))}\n\n${formatRequests(measurements)}\n`,
      );
      write(all); // all rounds take hours: what has been measured is not lost with the last of them
    }
  }
}

function write(all: Readonly<Record<string, readonly Measurement[]>>): void {
  mkdirSync(values.out, { recursive: true });
  writeFileSync(join(values.out, 'results.json'), `${JSON.stringify(all, null, 2)}\n`);
  for (const [rate, measurements] of Object.entries(all)) {
    writeFileSync(join(values.out, `chart-${rate}.svg`), formatChart(computeRows(measurements)));
  }
}

if (values.help) console.log(help);
else await main();
