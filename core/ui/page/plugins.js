// SPDX-License-Identifier: Apache-2.0
// The plugins: state, isolation, cost and errors; and the feature gates.
import {get} from './api.js';
import {el} from './dom.js';
import * as format from './format.js';
import {Table, figure} from './table.js';

export const title = 'Plugins';

const TONES = {running: 'good', disabled: 'quiet', absent: 'quiet', refused: 'bad', failed: 'bad', wedged: 'bad', parked: 'bad'};

const count = (text, read) => ({title: text, kind: 'number', cell: (row) => figure(read(row), format.plain), order: read, descending: true});

function ofLimit(used, limit, shown) {
  if (typeof used !== 'number') return '-';
  return {text: shown(used), value: used, small: typeof limit === 'number' ? `of ${shown(limit)}` : ''};
}

function isolationOf({isolation, instances}) {
  if (!isolation) return '-';
  const processes = [...new Set(instances.map((one) => one.process).filter((process) => process > 0))];
  const root = isolation.rootCapabilities.map((one) => `+${one}`).join(' ');
  return {text: isolation.layers.join('+') || (processes.length ? 'none' : 'in the agent'), tone: root ? 'warn' : undefined,
    small: [processes.length ? `process ${processes.join(' ')}` : '', root].filter(Boolean).join(', ')};
}

const PLUGINS = [
  {title: 'Plugin', cell: (row) => ({text: row.id || row.path, small: row.version}), order: (row) => row.id},
  {title: 'State', kind: 'short', cell: (row) => ({text: row.state, tone: TONES[row.state] ?? 'warn', small: row.gate}), order: (row) => row.state},
  {title: 'CPU', kind: 'number', cell: ({budget}) => ofLimit(budget.cpuCores, budget.cpuLimitCores, format.cores), order: (row) => row.budget.cpuCores,
    descending: true},
  {title: 'Memory', kind: 'number', cell: ({budget}) => ofLimit(budget.memoryBytes, budget.memoryLimitBytes, format.bytes),
    order: (row) => row.budget.memoryBytes, descending: true},
  {title: 'Series', kind: 'number', cell: (row) => ofLimit(row.series, row.budget.seriesLimit, format.plain), order: (row) => row.series, descending: true},
  count('Calls', (row) => row.counts.calls),
  {title: 'Last', kind: 'number', cell: (row) => figure(row.lastSeconds, format.seconds), order: (row) => row.lastSeconds, descending: true},
  count('Errors', (row) => row.counts.errors),
  count('Skipped', (row) => row.counts.skippedTicks),
  count('Late', (row) => row.counts.deadlineMisses),
  count('Restarts', (row) => row.restarts),
  count('Reloads', (row) => row.reloads),
  {title: 'Isolation', kind: 'short', cell: isolationOf},
  {title: 'Reason or last error', kind: 'text', cell: (row) => row.reason || row.lastError || '-'},
];

const GATES = [
  {title: 'Feature gate', cell: (row) => row.name, order: (row) => row.name},
  {title: 'Stage', kind: 'short', cell: (row) => row.stage},
  {title: 'Default', kind: 'short', cell: (row) => (row.default ? 'on' : 'off')},
  {title: 'Now', kind: 'short', cell: (row) => ({text: row.enabled ? 'on' : 'off', tone: row.enabled ? 'good' : 'quiet'}), order: (row) => String(row.enabled)},
  {title: 'Set by', kind: 'short', cell: (row) => row.origin},
];

export function open(main) {
  const plugins = new Table({caption: 'Plugins', columns: PLUGINS, key: (row) => row.id || row.path, sort: {column: 'Plugin', descending: false},
    empty: 'No plugin was found.'});
  const gates = new Table({caption: 'Feature gates', columns: GATES, key: (row) => row.name, sort: {column: 'Feature gate', descending: false}});
  main.append(plugins.element, el('p', {class: 'note'}, 'This page only reads. ', el('code', {}, 'koordctl plugin reload ID'),
    ' loads a plugin’s file again.'), el('h2', {}, 'Feature gates'), gates.element);
  async function refresh() {
    const [first, second] = await Promise.all([get('plugins'), get('features')]);
    plugins.update(first.plugins);
    gates.update(second.features);
  }
  return {refresh};
}
