// SPDX-License-Identifier: Apache-2.0
// One pod: its values over time, its knobs, and the decisions about it with their reasons.
import {get} from './api.js';
import {LineChart} from './charts.js';
import {DECISIONS, ofPod, partsOf, resultOf, whyOf} from './decision_table.js';
import {el, facts, labelled, number, options} from './dom.js';
import * as format from './format.js';
import {ChartGroup, Samples, SPANS} from './series.js';
import {Table, figure} from './table.js';
import {VerdictList} from './verdict.js';

export const title = 'Pod';
export const titleOf = (parameters) => `Pod ${parameters.get('name') ?? ''}`;

// [title, format, minimum of the upper end of the axis, metric without its scope]
const CHARTS = [
  ['CPU use, cores', format.cores, undefined, '_cpu_usage'],
  ['Memory use', format.bytes, undefined, '_memory_usage'],
  ['Wait for a CPU, p95', format.seconds, undefined, '_sched_latency_p95_seconds'],
  ['Throttled by its CPU quota', format.percent, 0.01, '_cpu_throttled'],
  ['Threads stalled for memory', format.percent, 0.01, '_memory_stall_ratio'],
];

const own = (labels, scope) => {
  const known = ['node', 'pod_uid', 'pod_name', 'pod_namespace', 'container_id', 'container_name'];
  if (!Object.keys(labels).every((key) => known.includes(key))) return undefined;
  return scope === 'pod' ? 'pod' : labels.container_name;
};

function chartsOf(span, uid) {
  const samples = (scope, metric) => new Samples(scope + metric, span, [`pod_uid=${uid}`]);
  return CHARTS.map(([name, shown, most, metric]) => ({chart: new LineChart({title: name, format: shown, most}),
    parts: ['pod', 'container'].map((scope) => ({samples: samples(scope, metric), name: (labels) => own(labels, scope)}))}));
}

const CONTAINERS = [
  {title: 'Container', cell: (row) => ({text: row.name || row.id, small: `${row.kind}, ${row.state}`})},
  ...[['CPU', '_cpu_usage', format.cores], ['Memory', '_memory_usage', format.bytes], ['Wait p95', '_sched_latency_p95_seconds', format.seconds],
    ['Throttled', '_cpu_throttled', format.percent], ['Stalled', '_memory_stall_ratio', format.percent]].map(([text, name, shown]) =>
    ({title: text, kind: 'number', cell: (row) => figure(row.values[`container${name}`], shown)})),
  {title: 'Requests and limits', kind: 'text', cell: (row) => Object.entries(row.resources)
    .map(([name, {request, limit}]) => `${name} ${request ?? '-'} / ${limit ?? '-'}`).join('; ') || '-'},
];

const KNOBS = [
  {title: 'Knob', cell: ({knob}) => ({text: knob.knob, small: knob.container || (knob.level === 'qos' ? `class ${knob.cgroup}` : knob.level)})},
  {title: 'Now', kind: 'short', cell: ({knob}) => ({text: knob.problem || knob.value || '-', tone: knob.problem ? 'bad' : undefined})},
  {title: 'Original', kind: 'short', cell: ({knob}) => knob.original ?? '-'},
  {title: 'Base × scales, caps', kind: 'text', cell: ({knob}) => partsOf(knob) || '-'},
  {title: 'Strategy', kind: 'short', cell: ({intent}) => ({text: intent.plugin ?? '-', small: intent.mode})},
  {title: 'Intent', kind: 'short', cell: ({intent}) => ({text: intent.wanted || '-', small: intent.role && intent.role !== 'set' ? intent.role : ''})},
  {title: 'Result', cell: ({intent}) => (intent.result ? resultOf(intent) : '-')},
  {title: 'Why', kind: 'text', cell: ({intent}) => (intent.result ? whyOf(intent) : '-')},
];

const EVENTS = [
  {title: 'At (UTC)', kind: 'short', cell: (row) => format.time(row.time)},
  {title: 'Event', kind: 'text', cell: (row) => row.what},
  {title: 'Why', kind: 'text', cell: (row) => row.why},
  {title: 'By', kind: 'short', cell: (row) => row.plugin || 'host'},
];

function factsOf(pod, about) {
  if (!pod) return el('p', {class: 'note'}, `This pod is not on the node${about.ended ? ' any more' : ''}; what is kept of it follows.`);
  const {values} = pod, known = (name, shown) => number(values[`pod${name}`], shown);
  return facts([
    ['CPU', known('_cpu_usage', format.cores)],
    ['Memory', known('_memory_usage', format.bytes)],
    ['Wait for a CPU, p95', known('_sched_latency_p95_seconds', format.seconds)],
    ['Throttled', known('_cpu_throttled', format.percent)],
    ['QoS', pod.qosClass || pod.kubernetesQOS || '-', `${pod.phase}${pod.priorityClass ? `, ${pod.priorityClass}` : ''}`],
    ['Hands off', about.handsOff ?? 'none', (about.handsOffUnknown ?? []).length ? `unknown: ${about.handsOffUnknown.join(', ')}` : ''],
  ]);
}

const rowsOf = (knobs) => knobs.flatMap((knob) =>
  (knob.intents.length ? knob.intents : [{}]).map((intent, i) => ({key: `${knob.cgroup} ${knob.knob} ${i}`, knob, intent})));
const newest = (list) => [...list].reverse();

// The agent answers 404 for an unknown pod without verdicts, so 404 is not shown as a problem.
const verdictsAfter = (error) => ({verdicts: [], problem: error.status === 404 ? undefined : error.message});

export function open(main, parameters, run) {
  const name = parameters.get('name') ?? '';
  const head = el('div'), charts = new ChartGroup(), verdicts = new VerdictList();
  const span = options(el('select', {onchange: () => run(restart)}), SPANS, '900');
  const table = (caption, columns, key, empty) => new Table({caption, columns, key, empty});
  const containers = table('Containers of this pod', CONTAINERS, (row) => row.id || row.name, 'No container is known.');
  const knobs = table('Knobs of this pod and of the cgroups that it is in', KNOBS, (row) => row.key, 'No strategy manages this pod.');
  const decisions = table('Last decisions, the newest first', ofPod(DECISIONS), (row) => row.number, 'No decision yet.');
  const events = table('Events of this pod, the newest first', EVENTS, (row) => `${row.time} ${row.what} ${row.why}`, 'No event yet.');
  const none = el('p', {class: 'note', role: 'status'});
  main.append(head, el('h2', {}, 'Verdicts'), none, verdicts.element, el('h2', {}, 'Containers'), containers.element, el('h2', {}, 'Over time'),
    el('div', {class: 'controls'}, labelled('Span', span)), charts.element, charts.missing, el('h2', {}, 'Knobs'), knobs.element, el('h2', {}, 'Decisions'),
    decisions.element, el('h2', {}, 'Events'), events.element);
  let uid;
  const restart = () => uid && charts.restart(() => chartsOf(Number(span.value), uid));
  async function refresh() {
    const [why, all, interference] = await Promise.all([get('why', {pod: name}), get('pods'),
      get('interference', {pod: name, state: 'any', limit: 20}).catch(verdictsAfter)]);
    const pod = all.pods.find((one) => one.uid === why.pod.uid);
    head.replaceChildren(factsOf(pod, why.pod));
    verdicts.update(interference.verdicts);
    none.hidden = interference.verdicts.length > 0;
    none.textContent = interference.problem ? `Verdicts about this pod are unknown: ${interference.problem}` : 'No verdict about this pod.';
    containers.update(pod?.containers ?? []);
    knobs.update(rowsOf(why.knobs));
    decisions.update([...why.decisions, ...why.hooks, ...why.evictions].sort((a, b) => b.number - a.number));
    events.update(newest(why.events));
    if (uid === why.pod.uid) {
      await charts.refresh();
    } else {
      uid = why.pod.uid;
      await restart();
    }
  }
  return {refresh, close: () => charts.close()};
}
