// SPDX-License-Identifier: Apache-2.0
// Decisions of strategies and hooks, with filters, and the modes, which decide whether they may write.
import {get} from './api.js';
import {DECISIONS} from './decision_table.js';
import {el, labelled, options} from './dom.js';
import * as format from './format.js';
import {Table} from './table.js';

export const title = 'Decisions';

const LIMIT = 200, MOST = 2000;
const OUTCOMES = ['', 'applied', 'shadow', 'lost', 'failed', 'contested', 'hands_off', 'reverted', 'refused', 'evicted', 'switched'];
const SINCE = [['', 'any time'], ['10m', '10 minutes'], ['1h', '1 hour'], ['12h', '12 hours']];
const SECONDS = {'10m': 600, '1h': 3600, '12h': 43_200};

const MODES = [
  {title: 'Strategy or hook', cell: (row) => row.target},
  {title: 'Mode', kind: 'short', cell: (row) => ({text: row.mode, tone: row.mode === 'enforce' ? 'good' : 'quiet',
    small: row.state && row.state !== 'running' ? row.state : ''})},
  {title: 'Configured', kind: 'short', cell: (row) => row.configured ?? '-'},
  {title: 'Set by an operator', kind: 'text', cell: (row) => (row.override
    ? `${row.override}, ${row.until ? `until ${format.time(row.until)} UTC` : 'until lifted'}, by ${row.by}` : '-')},
];

// Numbers restart with an agent that has no archive, so the key has the time, too.
const keyOf = (row) => `${row.number} ${row.time}`;

export function open(main, parameters, run) {
  const text = (value) => el('input', {type: 'search', value, autocomplete: 'off'});
  const pod = text(parameters.get('pod')), plugin = text(''), knob = text('');
  const outcome = options(el('select'), OUTCOMES.map((one) => [one, one || 'any']), '');
  const since = options(el('select'), SINCE, '');
  const form = el('form', {class: 'controls', onsubmit: (event) => { event.preventDefault(); run(restart); }},
    labelled('Pod', pod), labelled('Strategy or hook', plugin), labelled('Knob', knob), labelled('Result', outcome), labelled('Since', since),
    el('button', {class: 'main'}, 'Show'));
  const problem = el('p', {class: 'problem', role: 'alert', hidden: true});
  const table = new Table({caption: 'Decisions, the newest first', columns: DECISIONS, key: keyOf, empty: 'No decision matches.'});
  const older = el('button', {type: 'button', hidden: true, onclick: () => run(loadOlder)}, 'Older');
  const modes = new Table({caption: 'Modes: off ignores proposals, shadow records them, enforce writes them', columns: MODES, key: (row) => row.target});
  main.append(form, problem, table.element, el('p', {}, older), el('h2', {}, 'Modes'), modes.element);
  let filters = {pod: pod.value}, loaded = [], before, hasOlder = false;  // hasOlder: the user has loaded older rows
  // Adds a page to `loaded`, unless the filters have changed since the request.
  async function load(from, take) {
    const asked = filters;
    const answer = await get('decisions', {...asked, limit: LIMIT, before: from}).catch((error) => ({error}));
    if (asked !== filters) return;
    const {error} = answer;
    if (error && error.status !== 400 && error.status !== 404 && error.status !== 409) throw error;
    problem.textContent = error ? error.message : answer.problem ?? '';
    problem.hidden = !problem.textContent;
    if (error) replace([], undefined);
    else take([...answer.decisions].reverse(), answer.before);
    older.hidden = before === undefined || loaded.length >= MOST;
    table.update(loaded);
  }
  function replace(page, next) {
    loaded = page;
    before = next;
    hasOlder = false;
  }
  // Keeps older rows that the user has loaded only if no row is missing between them and the newest page.
  function takeNewest(page, next) {
    const fresh = new Set(page.map(keyOf)), kept = loaded.filter((one) => !fresh.has(keyOf(one)));
    if (!hasOlder || next === undefined || kept.length === loaded.length) return replace(page, next);
    const oldest = page[0].time - (SECONDS[filters.since] ?? Infinity);
    loaded = [...page, ...kept.filter((one) => one.time >= oldest)].slice(0, MOST);
    if (loaded.length === MOST) before = loaded[MOST - 1].number;
  }
  function loadOlder() {
    const from = before;
    return load(from, (page, next) => {
      if (from !== before) return;  // the rows that the page belongs to are no longer shown
      loaded = [...loaded, ...page].slice(0, MOST);
      before = next;
      hasOlder = true;
    });
  }
  function restart() {
    filters = {pod: pod.value.trim(), plugin: plugin.value.trim(), knob: knob.value.trim(), outcome: outcome.value, since: since.value};
    return load(undefined, replace);
  }
  async function refresh() {
    modes.update((await get('modes')).modes);
    await load(undefined, takeNewest);
  }
  return {refresh};
}
