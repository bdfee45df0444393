// SPDX-License-Identifier: Apache-2.0
// The frame of the page. It has the open view and the time of its next refresh.
import {get} from './api.js';
import {el} from './dom.js';
import {clock} from './format.js';
import * as capabilities from './capabilities.js';
import * as decisions from './decisions.js';
import * as interference from './interference.js';
import * as node from './node.js';
import * as plugins from './plugins.js';
import * as pod from './pod.js';
import * as pods from './pods.js';
import * as sql from './sql.js';

// A view has a title and open(main, parameters, run), which returns {refresh(), close()}; both may be missing. Its controls
// start requests with run(action), which shows an error.
const views = {node, pods, interference, decisions, plugins, capabilities, sql, pod};
const MENU = ['node', 'pods', 'interference', 'decisions', 'plugins', 'capabilities', 'sql'];
const PERIOD_MS = 5000;

const main = document.getElementById('main');
const problem = document.getElementById('problem');
const updated = document.getElementById('updated');
const pause = document.getElementById('pause');

let current;  // the open view
let opened = 0;  // number of views that were opened
let isBusy = false, isPaused = false;

function show(error) {
  problem.hidden = !error;
  if (error && problem.textContent !== error.message) problem.textContent = error.message;
}

async function refresh() {
  if (!current?.refresh || isBusy) return;
  const view = current;
  isBusy = true;
  try {
    await view.refresh();
    if (view !== current) return;
    show(null);
    updated.textContent = `${clock(Date.now() / 1000)} UTC`;
    main.dataset.ready = 'true';
  } catch (error) {
    if (view === current) show(error);
  } finally {
    isBusy = false;
    if (view !== current) refresh();
  }
}

// Runs the action of a control in the view with this number.
async function run(number, action) {
  try {
    await action();
    if (number === opened) show(null);
  } catch (error) {
    if (number === opened) show(error);
  }
}

// Returns the view and its parameters from a hash such as "#/pod?name=shop%2Fcart".
function place() {
  const [name, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return {name: Object.hasOwn(views, name) ? name : 'node', parameters: new URLSearchParams(query)};
}

function open(isFirst) {
  const {name, parameters} = place(), view = views[name];
  current?.close?.();
  delete main.dataset.ready;
  show(null);
  const title = view.titleOf?.(parameters) ?? view.title;
  const heading = el('h1', {tabindex: '-1'}, title);
  main.replaceChildren(heading);
  document.title = `${title} – koordetector`;
  for (const link of document.querySelectorAll('#views a')) {
    if (link.dataset.view === (name === 'pod' ? 'pods' : name)) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  const number = ++opened;
  current = view.open(main, parameters, (action) => run(number, action));
  if (!isFirst) heading.focus();
  if (current.refresh) refresh();
  else main.dataset.ready = 'true';
}

function setPaused(paused) {
  isPaused = paused;
  pause.setAttribute('aria-pressed', String(paused));
  if (!paused) refresh();
}

document.getElementById('views').append(...MENU.map((name) =>
  el('li', {}, el('a', {href: `#/${name}`, 'data-view': name}, views[name].title))));
document.getElementById('skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
pause.addEventListener('click', () => setPaused(!isPaused));
window.addEventListener('hashchange', () => open(false));
setInterval(() => {
  if (!isPaused && !document.hidden) refresh();
}, PERIOD_MS);
get('node').then(({name}) => { document.getElementById('node-name').textContent = name; }, () => {});
open(true);
