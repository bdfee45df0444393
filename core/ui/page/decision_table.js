// SPDX-License-Identifier: Apache-2.0
// Tables of decisions and knobs.
import * as format from './format.js';

const TONES = {applied: 'good', reverted: 'quiet', failed: 'bad', contested: 'bad', refused: 'bad', unknown: 'bad', brake: 'bad', evicted: 'warn',
  killed: 'bad', shadow: 'quiet', lost: 'warn'};

export function resultOf(decision) {
  let text = decision.result;
  if (text === 'lost' && decision.winner) text += ` to ${decision.winner}`;
  if (decision.problem) text += `: ${decision.problem}`;
  return {text, tone: TONES[decision.result]};
}

export function whyOf(decision) {
  const inputs = Object.entries(decision.inputs ?? {}).map(([name, value]) => `${name}=${value}`).join(', ');
  return {text: decision.reason, small: inputs};
}

export function podOf(item) {
  if (!item.pod?.name) return '-';
  const name = `${item.pod.namespace}/${item.pod.name}`;
  return {text: name + (item.container ? `/${item.container}` : ''), link: `#/pod?name=${encodeURIComponent(name)}`};
}

// Returns the composition of the value: "base 100000 (limit 1) × 1.5 (qos-cpu-burst)".
export function partsOf(item) {
  const text = item.composition ?? '', equals = text.indexOf(' = ');
  return equals < 0 ? '' : text.slice(equals + 3);
}

export const DECISIONS = [
  {title: 'At (UTC)', kind: 'short', cell: (row) => format.time(row.time)},
  {title: 'Of', cell: (row) => ({...(podOf(row) === '-' ? {text: row.cgroup || 'node'} : podOf(row)), small: podOf(row) === '-' ? '' : row.cgroup})},
  {title: 'Knob', kind: 'short', cell: (row) => row.knob || row.kind},
  {title: 'Before', kind: 'short', cell: (row) => row.before || '-'},
  {title: 'Wanted', kind: 'short', cell: (row) => ({text: row.wanted || '-', small: row.role && row.role !== 'set' ? row.role : ''})},
  {title: 'After', cell: (row) => ({text: row.after || '-', small: partsOf(row)})},
  {title: 'Result', cell: resultOf},
  {title: 'By', kind: 'short', cell: (row) => ({text: row.plugin || 'host', small: row.strategy === row.plugin ? '' : row.strategy})},
  {title: 'Why', kind: 'text', cell: whyOf},
];

export const ofPod = (columns) => columns.filter((column) => column.title !== 'Of');
