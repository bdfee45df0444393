// SPDX-License-Identifier: Apache-2.0
// Read-only SQL queries on the metric cache: a table, a chart, and a file to download.
import {sql, turns} from './api.js';
import {LineChart} from './charts.js';
import {el, labelled, options} from './dom.js';
import * as format from './format.js';
import {Table} from './table.js';

export const title = 'SQL';

const EXAMPLE = `SELECT cast(time / 10 AS int) * 10 AS time, pod_name, max(value) AS cores
FROM samples
WHERE metric = 'pod_cpu_usage' AND time > unixepoch() - 900
GROUP BY 1, 2 ORDER BY 1`;

const isNumber = (text) => text !== '' && Number.isFinite(Number(text));

// Returns the rows as CSV. Text that a spreadsheet would read as a formula gets an apostrophe as prefix.
export function csv(columns, rows) {
  const field = (text) => {
    const safe = /^[=+\-@\t\r]/.test(text) && !isNumber(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [columns, ...rows.map((row) => columns.map((name) => row[name]))].map((row) => row.map(field).join(',')).join('\r\n') + '\r\n';
}

// The first column is the axis if it has only numbers. A text column names the series. The last column with only
// numbers is the value.
function linesOf(columns, rows) {
  const numeric = columns.filter((name) => rows.every((row) => isNumber(row[name])));
  const x = numeric[0], y = numeric[numeric.length - 1], name = columns.find((one) => !numeric.includes(one));
  if (rows.length === 0 || numeric.length < 2) return null;
  const series = new Map();
  for (const row of rows) {
    const label = name ? row[name] || '(empty)' : y;
    series.set(label, [...(series.get(label) ?? []), [Number(row[x]), Number(row[y])]]);
  }
  return {x, lines: [...series].map(([label, points]) => ({label, points: points.sort((a, b) => a[0] - b[0])}))};
}

export function open(main) {
  const statement = el('textarea', {rows: '6', spellcheck: 'false', autocapitalize: 'off'});
  statement.value = EXAMPLE;
  const limit = options(el('select'), [['100', '100'], ['1000', '1000'], ['10000', '10000']], '1000');
  const run = el('button', {class: 'main'}, 'Run'), save = el('button', {type: 'button', hidden: true, onclick: () => keep()}, 'Save as CSV');
  const note = el('p', {class: 'count', role: 'status'}), problem = el('p', {class: 'problem', role: 'alert', hidden: true}), result = el('div');
  const form = el('form', {onsubmit: (event) => { event.preventDefault(); ask(); }},
    el('p', {}, el('label', {for: 'statement'}, 'SELECT over the tables ', el('code', {}, 'samples'), ' and ', el('code', {}, 'series'),
      ' of the metric cache (Ctrl+Enter runs it)')),
    statement, el('div', {class: 'controls'}, labelled('Rows at most', limit), run, save, note));
  statement.id = 'statement';
  statement.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  main.append(form, problem, el('h2', {}, 'Result'), result);
  const begin = turns();
  let answer, chart, isClosed = false;
  async function ask() {
    const isLast = begin();
    run.disabled = true;
    note.textContent = 'running';
    try {
      const found = await sql(statement.value, limit.value);
      if (isClosed || !isLast()) return;
      answer = found;
      problem.hidden = true;
      show();
    } catch (error) {
      if (!isLast()) return;
      note.textContent = '';
      problem.hidden = false;
      problem.textContent = error.message;
    } finally {
      run.disabled = !isLast();
    }
  }
  function show() {
    const {columns, rows, truncated} = answer, drawn = linesOf(columns, rows);
    chart?.close();
    chart = undefined;
    const table = new Table({caption: 'Rows of the result', empty: 'No rows.', columns: columns.map((name) => ({
      title: name, kind: rows.every((row) => isNumber(row[name])) ? 'number' : 'text', cell: (row) => row[name],
      order: (row) => (isNumber(row[name]) ? Number(row[name]) : row[name])}))});
    if (drawn) {
      const isTime = /^(time|ended)$/.test(drawn.x);
      chart = new LineChart({title: `By ${drawn.x}`, format: format.plain, wide: true, x: isTime ? format.clock : format.plain,
        xLong: isTime ? format.time : format.plain});
    }
    result.replaceChildren(...(chart ? [chart.element] : []), table.element);
    chart?.update(drawn.lines);
    table.update(rows);
    save.hidden = false;
    note.textContent = `${rows.length} rows${truncated ? ', further ones are left out' : ''}`;
  }
  function keep() {
    const link = el('a', {href: URL.createObjectURL(new Blob([csv(answer.columns, answer.rows)], {type: 'text/csv'})), download: 'koordetector.csv'});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
  return {close: () => {
    isClosed = true;
    chart?.close();
  }};
}
