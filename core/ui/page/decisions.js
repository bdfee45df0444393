// SPDX-License-Identifier: Apache-2.0
// Decisions of strategies and hooks, with filters, and the modes that let them write or not.
import {get} from './api.js';
import {DECISIONS} from './decision_table.js';
import {el, labelled, options} from './dom.js';
import * as format from './format.js';
import {Table} from './table.js';

export const title = 'Decisions';

const LIMIT = 200;
const OUTCOMES = ['', 'applied', 'shadow', 'lost', 'failed', 'contested', 'hands_off', 'reverted', 'refused', 'evicted', 'switched'];
const SINCE = [['', 'any time'], ['10m', '10 minutes'], ['1h', '1 hour'], ['12h', '12 hours']];

const MODES = [
  {title: 'Strategy or hook', cell: (row) => row.target},
  {title: 'Mode', kind: 'short', cell: (row) => ({text: row.mode, tone: row.mode === 'enforce' ? 'good' : 'quiet',
    small: row.state && row.state !== 'running' ? row.state : ''})},
  {title: 'Configured', kind: 'short', cell: (row) => row.configured ?? '-'},
  {title: 'Set by an operator', kind: 'text', cell: (row) => (row.override
    ? `${row.override}, ${row.until ? `until ${format.time(row.until)} UTC` : 'until lifted'}, by ${row.by}` : '-')},
];

export function open(main, parameters) {
  const text = (value) => el('input', {type: 'search', value, autocomplete: 'off'});
  const pod = text(parameters.get('pod')), plugin = text(''), knob = text('');
  const outcome = options(el('select'), OUTCOMES.map((one) => [one, one || 'any']), '');
  const since = options(el('select'), SINCE, '');
  const form = el('form', {class: 'controls', onsubmit: (event) => { event.preventDefault(); restart(); }},
    labelled('Pod', pod), labelled('Strategy or hook', plugin), labelled('Knob', knob), labelled('Result', outcome), labelled('Since', since),
    el('button', {class: 'main'}, 'Show'));
  const problem = el('p', {class: 'problem', role: 'alert', hidden: true});
  const table = new Table({caption: 'Decisions, the newest first', columns: DECISIONS, key: (row) => row.number, empty: 'No decision matches.'});
  const older = el('button', {type: 'button', hidden: true, onclick: () => load(before)}, 'Older');
  const modes = new Table({caption: 'Modes: off ignores proposals, shadow records them, enforce writes them', columns: MODES, key: (row) => row.target});
  main.append(form, problem, table.element, el('p', {}, older), el('h2', {}, 'Modes'), modes.element);
  let before, loaded = [], filters = {pod: pod.value};
  async function load(from) {
    try {
      const answer = await get('decisions', {...filters, limit: LIMIT, before: from});
      const known = new Set(answer.decisions.map((one) => one.number));
      // A page of older ones comes behind; a fresh page replaces what it has again.
      loaded = [...answer.decisions, ...loaded.filter((one) => !known.has(one.number))].sort((a, b) => b.number - a.number);
      if (from !== undefined || before === undefined || loaded.length === answer.decisions.length) before = answer.before;
      problem.hidden = !answer.problem;
      problem.textContent = answer.problem ?? '';
    } catch (error) {
      if (error.status !== 400 && error.status !== 404 && error.status !== 409) throw error;
      problem.hidden = false;
      problem.textContent = error.message;
      loaded = [];
      before = undefined;
    }
    older.hidden = before === undefined;
    table.update(loaded);
  }
  function restart() {
    loaded = [];
    before = undefined;
    filters = {pod: pod.value.trim(), plugin: plugin.value.trim(), knob: knob.value.trim(), outcome: outcome.value, since: since.value};
    return load();
  }
  async function refresh() {
    modes.update((await get('modes')).modes);
    await load();
  }
  return {refresh};
}
