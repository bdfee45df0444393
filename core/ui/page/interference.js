// SPDX-License-Identifier: Apache-2.0
// Verdicts, and the matrix of the last window: how long each container waits for each other container.
import {get, turns} from './api.js';
import {el, labelled, number, options} from './dom.js';
import * as format from './format.js';
import {Table} from './table.js';
import {VerdictList, suspectName} from './verdict.js';

export const title = 'Interference';

const MOST_CULPRITS = 12;
const STATES = [['standing', 'that stand'], ['any', 'all'], ['ended', 'that have ended']];
const RESOURCES = [['', 'all'], ['cpu', 'CPU'], ['blkio', 'disk'], ['memory', 'memory'], ['cache', 'caches']];

const COVERAGE = [
  {title: 'Resource', cell: (row) => row.resource},
  {title: 'State', kind: 'short', cell: (row) => ({text: row.state, tone: row.state === 'supported' ? 'good' : 'warn'})},
  {title: 'Method', kind: 'short', cell: (row) => row.method || '-'},
  {title: 'Detail', kind: 'text', cell: (row) => row.detail},
];

// Returns a table with a row for each victim, and a column for each of the culprits with the longest waits.
function grid(matrix) {
  const totals = new Map(), victims = new Map();
  for (const {victim, culprit, value} of matrix.pairs) {
    const name = suspectName(culprit), waits = victims.get(victim.name) ?? new Map();
    totals.set(name, (totals.get(name) ?? 0) + value);
    waits.set(name, (waits.get(name) ?? 0) + value);
    victims.set(victim.name, waits);
  }
  const culprits = [...totals.keys()].sort((a, b) => totals.get(b) - totals.get(a)).slice(0, MOST_CULPRITS);
  const left = totals.size - culprits.length;
  const caption = `Resource ${matrix.resource}: each row waited for each column, ${format.time(matrix.from)} – ${format.time(matrix.to)} UTC, ` +
    `by ${matrix.plugin}${left > 0 ? `; ${left} columns with shorter waits left out` : ''}${matrix.omitted ? `; ${matrix.omitted} shorter pairs left out` : ''}`;
  const cell = (waits, name) => el('td', {class: 'number'},
    waits.has(name) ? number(waits.get(name), (value) => format.amount(value, matrix.unit)) : '');
  return el('div', {class: 'scroll', role: 'region', tabindex: '0', 'aria-label': `Waits for ${matrix.resource}`},
    el('table', {class: 'matrix'}, el('caption', {}, caption),
      el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, 'Victim'), ...culprits.map((name) => el('th', {scope: 'col', class: 'number'}, name)))),
      el('tbody', {}, ...[...victims].map(([victim, waits]) =>
        el('tr', {}, el('th', {scope: 'row'}, victim), ...culprits.map((name) => cell(waits, name)))))));
}

function silence(answer) {
  const {judge, ended, history} = answer;
  if (judge.state === 'disabled') return `The feature gate ${judge.gate} is off, so ${judge.plugin} does not judge.`;
  if (judge.state !== 'running') return `${judge.plugin} is ${judge.state}${judge.reason ? `: ${judge.reason}` : ''}.`;
  if (history) return 'No verdict matches.';
  return `Nothing holds a container up now.${ended ? ` Verdicts that have ended: ${ended}.` : ''}`;
}

export function open(main, parameters, run) {
  const state = options(el('select', {onchange: () => run(refresh)}), STATES, 'standing');
  const resource = options(el('select', {onchange: () => run(refresh)}), RESOURCES, '');
  const note = el('p', {class: 'note', role: 'status'}), matrices = el('div', {class: 'matrices'}), list = new VerdictList();
  const coverage = new Table({caption: 'Resources that are judged on this node', columns: COVERAGE, key: (row) => row.resource});
  main.append(el('div', {class: 'controls'}, labelled('Show verdicts', state), labelled('Resource', resource)), el('h2', {}, 'Verdicts'), note, list.element,
    el('h2', {}, 'Waits of victims for culprits'), matrices, el('h2', {}, 'Judged resources'), coverage.element);
  const begin = turns();
  let drawn;
  async function refresh() {
    const isLast = begin();
    const [answer, waits] = await Promise.all([
      get('interference', {state: state.value, resource: resource.value, limit: 200}),
      get('interference/matrix', {resource: resource.value, limit: 1000})]);
    if (!isLast()) return;
    note.textContent = answer.verdicts.length === 0 ? silence(answer)
      : `${answer.verdicts.length} shown${answer.hasOlder ? '; older ones are left out' : ''}`;
    list.update(answer.verdicts);
    coverage.update(answer.resources);
    const text = JSON.stringify(waits.matrices);
    if (text === drawn) return;
    drawn = text;
    matrices.replaceChildren(...(waits.matrices.length ? waits.matrices.map(grid)
      : [el('p', {class: 'note'}, waits.judge.state === 'running' ? 'No window yet.' : silence(waits))]));
  }
  return {refresh};
}
