// SPDX-License-Identifier: Apache-2.0
// A table that keeps its row elements while their cells change, and sorts after a click on a title.
import {el} from './dom.js';

const SVG = 'http://www.w3.org/2000/svg';

function sparkline(values) {
  const svg = document.createElementNS(SVG, 'svg'), line = document.createElementNS(SVG, 'polyline');
  const most = Math.max(...values, 1e-12), step = 96 / Math.max(values.length - 1, 1);
  line.setAttribute('points', values.map((v, i) => `${(i * step).toFixed(1)},${(19 - 18 * v / most).toFixed(1)}`).join(' '));
  svg.setAttribute('class', 'spark');
  svg.setAttribute('viewBox', '0 0 96 20');
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('aria-hidden', 'true');
  svg.append(line);
  return svg;
}

// A cell: text, or {text, value (exact), link, small, tone, spark}.
const signature = (cell) => (typeof cell === 'string' ? cell : JSON.stringify(cell));

function fill(element, cell) {
  const {text = '', value, link, small, tone, spark} = typeof cell === 'string' ? {text: cell} : cell;
  let shown = text;
  if (value !== undefined) shown = el('data', {value: String(value), title: String(value)}, text);
  if (link) shown = el('a', {href: link}, shown);
  if (tone) shown = el('span', {class: `tone-${tone}`}, shown);
  element.replaceChildren(...(shown === '' ? [] : [shown]), ...(small ? [el('small', {}, small)] : []),
    ...(spark && spark.length > 1 ? [sparkline(spark)] : []));
}

function compare(a, b) {
  const none = (value) => value === undefined || value === null || value === '';
  if (none(a) || none(b)) return Number(none(b)) - Number(none(a));
  if (Array.isArray(a)) {
    for (let i = 0; i < a.length; ++i) {
      const order = compare(a[i], b[i]);
      if (order !== 0) return order;
    }
    return 0;
  }
  return typeof a === 'number' && typeof b === 'number' ? a - b : String(a) < String(b) ? -1 : Number(String(a) > String(b));
}

// A column: {title, cell(row), order(row) if it can sort, kind: 'number' | 'text' | 'short', descending: first click}.
// The first column names the row.
export class Table {
  constructor({caption, columns, key, empty = 'none', sort}) {
    this.columns = columns;
    this.key = key;
    this.rows = new Map();
    this.order = sort ?? null;  // {column: title, descending}
    this.heads = columns.map((column) => this.head(column));
    this.body = el('tbody');
    this.caption = el('caption', {}, caption);
    this.table = el('table', {}, this.caption, el('thead', {}, el('tr', {}, ...this.heads)), this.body);
    this.empty = el('p', {class: 'note', hidden: true}, empty);
    this.scroll = el('div', {class: 'scroll', role: 'region', tabindex: '0', 'aria-label': caption}, this.table);
    this.element = el('div', {}, this.scroll, this.empty);
    this.data = [];
    this.markOrder();
  }

  head(column) {
    const title = column.order
      ? el('button', {type: 'button', onclick: () => this.sortBy(column)}, column.title)
      : column.title;
    return el('th', {scope: 'col', class: column.kind}, title);
  }

  sortBy(column) {
    const again = this.order?.column === column.title;
    this.order = {column: column.title, descending: again ? !this.order.descending : Boolean(column.descending)};
    this.markOrder();
    this.update(this.data);
  }

  markOrder() {
    this.columns.forEach((column, i) => {
      if (!column.order) return;
      const direction = this.order?.descending ? 'descending' : 'ascending';
      this.heads[i].setAttribute('aria-sort', this.order?.column === column.title ? direction : 'none');
    });
  }

  sorted(data) {
    const column = this.columns.find((one) => one.title === this.order?.column);
    if (!column) return data;
    const sign = this.order.descending ? -1 : 1;
    return data.map((row) => [column.order(row), row]).sort((a, b) => sign * compare(a[0], b[0])).map(([, row]) => row);
  }

  update(data) {
    this.data = data;
    const kept = new Map();
    this.sorted(data).forEach((row, i) => {
      const key = this.key ? this.key(row) : i;
      const shown = this.rows.get(key) ?? this.newRow();
      this.columns.forEach((column, c) => {
        const cell = column.cell(row), text = signature(cell);
        if (shown.cells[c] === text) return;
        shown.cells[c] = text;
        fill(shown.element.children[c], cell);
      });
      kept.set(key, shown);
    });
    this.place([...kept.values()].map((row) => row.element));
    this.rows = kept;
    this.scroll.hidden = data.length === 0;
    this.empty.hidden = data.length !== 0;
  }

  newRow() {
    const cells = this.columns.map((column, i) =>
      (i === 0 ? el('th', {scope: 'row', class: column.kind}) : el('td', {class: column.kind})));
    return {element: el('tr', {}, ...cells), cells: []};
  }

  // Moves only rows with a changed position, so that the focus is kept.
  place(elements) {
    const wanted = new Set(elements);
    for (const row of [...this.body.children]) if (!wanted.has(row)) row.remove();
    if (this.body.children.length === 0) {
      this.body.append(...elements);
      return;
    }
    elements.forEach((row, i) => {
      if (this.body.children[i] !== row) this.body.insertBefore(row, this.body.children[i] ?? null);
    });
  }
}

// Returns the cell of a number; "-" if the number is unknown.
export const figure = (value, format) => (typeof value === 'number' ? {text: format(value), value} : '-');
