// SPDX-License-Identifier: Apache-2.0
// The node: its usage, its waits, and the latest value of each series.
import {get} from './api.js';
import {LineChart} from './charts.js';
import {el, facts, labelled, number, options} from './dom.js';
import * as format from './format.js';
import {ChartGroup, Samples, SPANS} from './series.js';
import {Table, figure} from './table.js';

export const title = 'Node';

const unlabelled = (text) => (labels) => (Object.keys(labels).every((key) => key === 'node') ? text : undefined);

// Labels that a metric's series must have; other series are not requested.
const WANTED = {node_psi: ['psi_precision=10', 'psi_degree=some']};

// [title, format, minimum of the upper end of the axis, [[metric, name(labels), whether it is a counter]]]
const CHARTS = [
  ['CPU use, cores', format.cores, undefined, [['node_cpu_usage', unlabelled('all')], ['sys_cpu_usage', unlabelled('outside pods')]]],
  ['Memory use', format.bytes, undefined, [['node_memory_usage', unlabelled('without page cache')],
    ['node_memory_usage_with_page_cache', unlabelled('with page cache')]]],
  ['Pressure, some tasks wait, 10 s average', format.ofHundred, 1, [['node_psi', (labels) => labels.psi_resource]]],
  ['Wait for a CPU', format.seconds, undefined, [['node_sched_latency_p50_seconds', unlabelled('p50')],
    ['node_sched_latency_p95_seconds', unlabelled('p95')], ['node_sched_latency_p99_seconds', unlabelled('p99')]]],
  ['Threads stalled for memory', format.percent, 0.01, [['node_memory_stall_ratio', unlabelled('')]]],
  ['Time of a block request, p99', format.seconds, undefined, [['node_block_latency_p99_seconds', (labels) => labels.direction]]],
  ['Held by CPU quotas, threads', format.cores, 0.01, [['node_sched_latency_throttled_seconds_total', unlabelled(''), true]]],
];

function chartsOf(span) {
  return CHARTS.map(([name, shown, most, parts]) => {
    const known = new Map(), samplesOf = (metric) => {
      if (!known.has(metric)) known.set(metric, new Samples(metric, span, WANTED[metric]));
      return known.get(metric);
    };
    return {chart: new LineChart({title: name, format: shown, most}),
      parts: parts.map(([metric, label, isRate]) => ({samples: samplesOf(metric), name: label, isRate}))};
  });
}

function factsOf(node, verdicts) {
  const {values} = node, online = node.cpus.filter((cpu) => cpu.online).length;
  const standing = verdicts?.verdicts.length;
  return facts([
    ['CPU', number(values.node_cpu_usage, format.cores), `of ${online} cores`],
    ['Memory', number(values.node_memory_usage, format.bytes), `of ${format.bytes(node.memoryBytes)}`],
    ['Wait for a CPU, p95', number(values.node_sched_latency_p95_seconds, format.seconds),
      typeof values.node_sched_latency_p99_seconds === 'number' ? `p99 ${format.seconds(values.node_sched_latency_p99_seconds)}` : ''],
    ['Stalled for memory', number(values.node_memory_stall_ratio, format.percent)],
    ['Pods', number(node.pods, format.plain), `from ${node.state.source}`],
    ['Standing verdicts', standing === undefined ? '-' : el('a', {href: '#/interference'}, number(standing, format.plain)),
      verdicts && verdicts.judge.state !== 'running' ? `${verdicts.judge.plugin} is ${verdicts.judge.state}` : '',
      standing ? 'bad' : undefined],
  ]);
}

const VALUES = [
  {title: 'Metric', cell: (row) => row.name, order: (row) => row.name},
  {title: 'Value', kind: 'number', cell: (row) => figure(row.value, format.ofMetric(row.name)), order: (row) => row.value, descending: true},
  {title: 'Exactly', kind: 'number', cell: (row) => String(row.value)},
  {title: 'At (UTC)', kind: 'short', cell: (row) => format.time(row.time), order: (row) => row.time, descending: true},
];

const ABOUT = [
  {title: 'About', cell: ([name]) => name},
  {title: 'Value', kind: 'text', cell: ([, value]) => value},
];

function aboutOf(node) {
  const {state} = node, ages = Object.entries(state.ageSeconds).map(([part, age]) => `${part} ${format.seconds(age)}`);
  return [
    ['Agent', node.version],
    ['Cgroups', node.cgroupHierarchy],
    ['CPUs online', node.cpus.filter((cpu) => cpu.online).map((cpu) => cpu.cpu).join(' ')],
    ['State from', `${state.source}; age: ${ages.join(', ') || 'unknown'}`],
    ['Problem', [state.problem, node.kubeletProblem].filter(Boolean).join('; ') || 'none'],
  ];
}

export function open(main, parameters, run) {
  const head = el('div'), charts = new ChartGroup();
  const span = options(el('select', {onchange: () => run(restart)}), SPANS, '900');
  const values = new Table({caption: 'Latest values of the node', columns: VALUES, key: (row) => row.name,
    empty: 'No plugin has a value of the node yet.', sort: {column: 'Metric', descending: false}});
  const about = new Table({caption: 'The agent and this node', columns: ABOUT, key: ([name]) => name});
  main.append(head, el('h2', {}, 'Over time'), el('div', {class: 'controls'}, labelled('Span', span)), charts.element, charts.missing,
    el('h2', {}, 'Latest values'), values.element, el('h2', {}, 'About'), about.element);
  const restart = () => charts.restart(() => chartsOf(Number(span.value)));
  async function refresh() {
    const [node, verdicts] = await Promise.all([get('node'), get('interference', {limit: 1000}).catch(() => undefined)]);
    head.replaceChildren(factsOf(node, verdicts));
    values.update(Object.entries(node.values).map(([name, value]) => ({name, value, time: node.times[name]})));
    about.update(aboutOf(node));
    await (charts.shown.length ? charts.refresh() : restart());
  }
  return {refresh, close: () => charts.close()};
}
