// SPDX-License-Identifier: Apache-2.0
// Verdicts: which container is held up, which other containers cause this, and which method has found it.
import {el, number} from './dom.js';
import * as format from './format.js';
import {Table, figure} from './table.js';

// Returns whether the statistic is a share of time in which the container is held up. It exceeds 1 if several threads
// wait.
const isShareOfTime = ({name, unit}) => unit === 'ratio' && (name === 'held_up' || name === 'held_up_by_others');

// Returns "cpu 4.2%" or "own memory 12 ms/s" for a table of pods, as in `koordctl top`.
export function brief(verdict) {
  const {value, unit} = verdict.statistic;
  const text = (verdict.kind.startsWith('self') ? 'own ' : '') + verdict.resource;
  if (typeof value !== 'number') return text;
  if (isShareOfTime(verdict.statistic)) return `${text} ${format.percent(Math.min(value, 1))}`;
  if (unit === 'ratio' || unit === 'seconds/second') return `${text} ${value < 1e4 ? format.percent(value) : format.amount(value, 'ratio')}`;
  return `${text} ${format.amount(value, unit)}`;
}

export function suspectName(suspect) {
  if (suspect.kind === 'kernel') return 'kernel threads';
  if (suspect.kind === 'outside') return 'node, outside pods';
  if (suspect.kind === 'other') return `'${suspect.name}'`;
  return suspect.name || 'a container that has ended';
}

const amount = (value, unit) => number(value, (one) => format.amount(one, unit));

function suspectColumns(verdict) {
  const use = verdict.resource === 'cpu' || verdict.resource === 'cache' ? format.cores : format.bytes;
  const inUnit = (value) => figure(value, (one) => format.amount(one, verdict.unit));
  return [
    {title: 'Waited for', cell: (row) => suspectName(row)},
    {title: 'Wait', kind: 'number', cell: (row) => inUnit(row.value)},
    {title: 'Share of all waits', kind: 'number', cell: (row) => figure(row.share, format.percent)},
    {title: 'Over quiet times', kind: 'number', cell: (row) => inUnit(row.excess)},
    {title: 'Uses', kind: 'number', cell: (row) => figure(row.usage, use)},
    {title: 'Requests', kind: 'number', cell: (row) => figure(row.request, use)},
  ];
}

function felt(verdict) {
  const {name, value, unit, baseline, threshold} = verdict.statistic;
  const bounds = [['in quiet times ', baseline], ['limit ', threshold]].filter(([, bound]) => typeof bound === 'number');
  const shown = isShareOfTime(verdict.statistic) && value > 1
    ? number(value, (sum) => `${format.amount(1, unit)}, ${format.figures(sum)} threads at a time`) : amount(value, unit);
  return el('p', {}, 'Felt: ', name.replaceAll('_', ' '), ' ', shown, bounds.length ? ' (' : '',
    ...bounds.flatMap(([text, bound], i) => [i ? ', ' : '', text, amount(bound, unit)]), bounds.length ? ')' : '');
}

function rest(verdict) {
  const parts = [['self', 'by its own threads'], ['throttled', 'by its own limits'], ['unexplained', 'unexplained']]
    .filter(([key]) => typeof verdict[key] === 'number');
  if (parts.length === 0) return null;
  return el('p', {}, 'Other waits: ', ...parts.flatMap(([key, text], i) => [i ? ', ' : '', `${text} `, amount(verdict[key], verdict.unit)]));
}

export function article(verdict) {
  const standing = verdict.state === 'standing';
  const span = `${format.time(verdict.from)} – ${standing ? 'now' : format.time(verdict.ended ?? verdict.to)} UTC`;
  const victim = verdict.victim.pod
    ? el('a', {href: `#/pod?name=${encodeURIComponent(`${verdict.victim.pod.namespace}/${verdict.victim.pod.name}`)}`}, verdict.victim.name)
    : verdict.victim.name;
  const suspects = new Table({caption: `Waits of ${verdict.victim.name} for others, the longest first`, columns: suspectColumns(verdict),
    empty: 'No other is named.'});
  suspects.update(verdict.suspects);
  const others = Object.entries(verdict.others).map(([name, finding]) => `${name} ${finding}`).join('; ');
  return el('article', {class: standing ? 'verdict standing' : 'verdict', 'data-id': verdict.id},
    el('h3', {}, victim, ` – ${verdict.kind}, ${verdict.resource}`),
    el('p', {class: 'note'}, span, ', in ', number(verdict.windows.over, format.plain), ' of ', number(verdict.windows.seen, format.plain),
      ` windows; method: ${verdict.method}${verdict.note ? ` (${verdict.note})` : ''}; by ${verdict.plugin}`, verdict.origin === 'third-party' ? ' (third party)' : ''),
    felt(verdict), suspects.element, rest(verdict), others ? el('p', {}, `Also looked at: ${others}`) : null,
    verdict.endReason ? el('p', {}, `Ended: ${verdict.endReason}`) : null);
}

// A list that keeps unchanged articles, so that the focus is kept.
export class VerdictList {
  constructor() {
    this.element = el('div');
    this.shown = new Map();
  }

  update(verdicts) {
    const kept = new Map();
    for (const verdict of verdicts) {
      const text = JSON.stringify(verdict), before = this.shown.get(verdict.id);
      kept.set(verdict.id, before?.text === text ? before : {text, element: article(verdict)});
    }
    const elements = [...kept.values()].map((one) => one.element);
    if (elements.length !== this.element.children.length || elements.some((one, i) => this.element.children[i] !== one))
      this.element.replaceChildren(...elements);
    this.shown = kept;
  }
}
