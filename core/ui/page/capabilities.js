// SPDX-License-Identifier: Apache-2.0
// The capabilities of this node, its kernel and each plugin, with the reasons for missing capabilities.
import {get} from './api.js';
import {el, labelled} from './dom.js';
import {Table} from './table.js';

export const title = 'Capabilities';

const TONES = {supported: 'good', off: 'quiet', absent: 'warn', broken: 'bad', forbidden: 'bad', inactive: 'warn'};

const COLUMNS = [
  {title: 'Capability', cell: (row) => row.name, order: (row) => row.name},
  {title: 'State', kind: 'short', cell: (row) => ({text: row.state, tone: TONES[row.state]}), order: (row) => row.state},
  {title: 'Source', kind: 'short', cell: (row) => row.plugin || 'host', order: (row) => row.plugin},
  {title: 'Detail', kind: 'text', cell: (row) => row.detail},
];

export function open(main) {
  const filter = el('input', {type: 'search', oninput: () => show()});
  const count = el('p', {class: 'count', role: 'status'});
  const table = new Table({caption: 'Capabilities', columns: COLUMNS, key: (row) => `${row.name} ${row.plugin}`, empty: 'No capability matches.',
    sort: {column: 'Capability', descending: false}});
  main.append(el('div', {class: 'controls'}, labelled('Filter', filter), count), table.element);
  let rows = [];
  function show() {
    const text = filter.value.toLowerCase();
    const chosen = rows.filter((row) => `${row.name} ${row.state} ${row.plugin} ${row.detail}`.toLowerCase().includes(text));
    table.update(chosen);
    count.textContent = chosen.length === rows.length ? `${rows.length} shown` : `${chosen.length} of ${rows.length} shown`;
  }
  async function refresh() {
    rows = (await get('capabilities')).capabilities;
    show();
  }
  return {refresh};
}
