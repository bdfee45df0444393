// SPDX-License-Identifier: Apache-2.0
// The pods and the containers outside of pods, sorted by harm.
import {get} from './api.js';
import {el, labelled} from './dom.js';
import * as format from './format.js';
import {Table, figure} from './table.js';
import {brief} from './verdict.js';

export const title = 'Pods';

const KEPT = 60;  // number of values in a sparkline

const valueOf = (row, name) => row.values[row.scope + name];
const numeric = (text, name, shown) => ({title: text, kind: 'number', cell: (row) => figure(valueOf(row, name), shown),
  order: (row) => valueOf(row, name), descending: true});

// Returns the sort key of `koordctl top`: 2 or more if the pod has a verdict about other pods, 1 or more if it has a
// verdict about itself. The fraction is the largest of throttled, stalled and the p95 wait as a share of 100 ms.
function harm(row) {
  const known = [valueOf(row, '_cpu_throttled'), valueOf(row, '_memory_stall_ratio'), valueOf(row, '_sched_latency_p95_seconds') / 0.1]
    .filter(Number.isFinite);
  const most = known.length ? Math.min(Math.max(...known), 1) : undefined;
  if (!row.verdicts?.length) return most;
  return (row.verdicts[0].kind.startsWith('self') ? 1 : 2) + (most ?? 0);
}

// Returns whether a row is known to be idle.
const isIdle = (row) => row.verdicts?.length === 0 && valueOf(row, '_cpu_usage') < 0.01 && !valueOf(row, '_cpu_throttled') &&
  !valueOf(row, '_memory_stall_ratio') && (valueOf(row, '_sched_latency_p95_seconds') ?? 0) < 1e-3;

function harmCell({verdicts}) {
  if (!verdicts) return {text: 'unknown', tone: 'warn'};
  if (verdicts.length === 0) return '-';
  return {text: brief(verdicts[0]), tone: verdicts[0].kind === 'interfered' ? 'bad' : 'warn',
    small: verdicts.length > 1 ? `and ${verdicts.length - 1} more` : ''};
}

const COLUMNS = [
  {title: 'Name', cell: (row) => ({text: row.name, link: row.link, small: row.kind === 'pod' ? row.qos : row.kind}), order: (row) => row.name},
  {title: 'Harm', kind: 'short', cell: harmCell, order: harm, descending: true},
  numeric('CPU', '_cpu_usage', format.cores),
  {title: 'CPU, since opened', cell: (row) => ({text: '', spark: row.spark})},
  numeric('Memory', '_memory_usage', format.bytes),
  numeric('Wait p50', '_sched_latency_p50_seconds', format.seconds),
  numeric('Wait p95', '_sched_latency_p95_seconds', format.seconds),
  numeric('Wait p99', '_sched_latency_p99_seconds', format.seconds),
  numeric('Throttled', '_cpu_throttled', format.percent),
  numeric('Stalled', '_memory_stall_ratio', format.percent),
];

// If `verdicts` is undefined, the verdicts of the rows are unknown.
function rowsOf(answer, verdicts) {
  const rows = answer.pods.map((pod) => {
    const name = (pod.namespace ? `${pod.namespace}/` : '') + pod.name;
    return {key: pod.uid, name, link: `#/pod?name=${encodeURIComponent(name)}`, kind: 'pod', scope: 'pod',
      qos: pod.qosClass || pod.kubernetesQOS, values: pod.values,
      verdicts: verdicts?.filter((one) => one.victim.pod?.uid === pod.uid)};
  });
  for (const container of answer.containers)
    rows.push({key: container.id || container.name, name: container.name || container.id, kind: container.kind, scope: 'container', qos: '',
      values: container.values, verdicts: verdicts?.filter((one) => !one.victim.pod && one.victim.name === container.name)});
  return rows.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
}

export function open(main) {
  const filter = el('input', {type: 'search', oninput: () => show()});
  const idle = el('input', {type: 'checkbox', onchange: () => show()});
  const count = el('p', {class: 'count', role: 'status'});
  const table = new Table({caption: 'Pods, and containers outside of pods; "-" is unknown or older than two periods',
    columns: COLUMNS, key: (row) => row.key, empty: 'No pod matches.', sort: {column: 'Harm', descending: true}});
  main.append(el('div', {class: 'controls'}, labelled('Filter by name, namespace or QoS class', filter),
    el('label', {class: 'check'}, idle, 'Hide idle ones'), count), table.element);
  let rows = [];
  const sparks = new Map();
  function show() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = rows.filter((row) => {
      const text = `${row.name} ${row.kind} ${row.qos}`.toLowerCase();
      return words.every((word) => text.includes(word)) && !(idle.checked && isIdle(row));
    });
    table.update(chosen);
    const text = chosen.length === rows.length ? `${rows.length} shown` : `${chosen.length} of ${rows.length} shown`;
    if (count.textContent !== text) count.textContent = text;
  }
  async function refresh() {
    const [answer, interference] = await Promise.all([get('pods'), get('interference', {limit: 1000}).catch((error) => ({error}))]);
    // Verdicts of third-party plugins are unverified; only the view Interference shows them.
    rows = rowsOf(answer, interference.verdicts?.filter((one) => one.origin !== 'third-party'));
    const seen = new Set(rows.map((row) => row.key));
    for (const key of sparks.keys()) if (!seen.has(key)) sparks.delete(key);
    for (const row of rows) {
      const cpu = valueOf(row, '_cpu_usage'), before = sparks.get(row.key) ?? [];
      row.spark = typeof cpu === 'number' ? [...before, cpu].slice(-KEPT) : before;
      sparks.set(row.key, row.spark);
    }
    show();
    if (interference.error) throw interference.error;
  }
  return {refresh};
}
