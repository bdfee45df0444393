// SPDX-License-Identifier: Apache-2.0
// A line chart over time with Chart.js, and a legend, a sentence and a table with the same content. Without Chart.js
// only the table is shown.
import {el} from './dom.js';
import {clock, time} from './format.js';

const MOST_SERIES = 6, MOST_ROWS = 200;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const dark = window.matchMedia('(prefers-color-scheme: dark)');

export class LineChart {
  // {title, format, wide, most: minimum of the upper end of the axis, x: formats a position on the x axis}
  constructor({title, format, wide = false, most, x = clock, xLong = time}) {
    Object.assign(this, {title, format, most, x, xLong, series: []});
    this.legend = el('ul', {class: 'legend'});
    this.canvas = el('canvas', {role: 'img', 'aria-label': title});
    this.drawing = el('div', {class: wide ? 'drawing wide' : 'drawing'}, this.canvas);
    this.table = el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `${title}, values`});
    this.details = el('details', {open: !window.Chart, ontoggle: () => this.fillTable()}, el('summary', {}, 'Values'), this.table);
    this.element = el('figure', {class: 'chart'}, el('figcaption', {}, el('h3', {}, title), this.legend), this.drawing,
      this.details);
    this.recolour = () => {
      this.destroy();
      this.draw();
    };
    dark.addEventListener('change', this.recolour);
  }

  // series: [{label, points: [[unix seconds, value], …]}]
  update(series) {
    this.series = series.slice(0, MOST_SERIES);
    const left = series.length - this.series.length;
    const last = (points) => points[points.length - 1]?.[1];
    this.legend.replaceChildren(...this.series.map(({label, points}, i) =>
      el('li', {class: `series-${i}`}, label ? `${label} ` : '', last(points) === undefined ? '-' : this.format(last(points)))),
    ...(left > 0 ? [el('li', {}, `and ${left} more`)] : []));
    this.canvas.setAttribute('aria-label', this.sentence());
    this.draw();
    this.fillTable();
  }

  sentence() {
    const parts = this.series.map(({label, points}) => {
      const values = points.map((point) => point[1]);
      if (values.length === 0) return `${label} no values`;
      const least = values.reduce((a, b) => Math.min(a, b)), most = values.reduce((a, b) => Math.max(a, b));
      return `${label} last ${this.format(values[values.length - 1])}, lowest ${this.format(least)}, highest ${this.format(most)}`;
    });
    return `${this.title}: ${parts.join('; ')}`;
  }

  draw() {
    this.drawing.hidden = !window.Chart;
    if (!window.Chart || !this.canvas.isConnected) return;
    const data = this.series.map(({label, points}, i) => ({
      label,
      data: points.map(([x, y]) => ({x, y})),
      borderColor: colour(`--series-${i}`),
      backgroundColor: colour(`--series-${i}`),
      borderWidth: 1.75,
      pointRadius: points.length > 1 ? 0 : 3,
      pointHitRadius: 8,
      tension: 0,
    }));
    if (!this.chart) this.chart = new window.Chart(this.canvas, {type: 'line', data: {datasets: data}, options: this.options()});
    this.chart.data.datasets = data;
    this.chart.update('none');
  }

  options() {
    const grid = {color: colour('--line'), borderColor: colour('--line'), tickColor: colour('--line')};
    const ticks = {color: colour('--quiet'), maxRotation: 0, autoSkipPadding: 24};
    return {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      parsing: false,
      normalized: true,
      interaction: {mode: 'nearest', axis: 'x', intersect: false},
      scales: {
        x: {type: 'linear', grid: {...grid, display: false}, ticks: {...ticks, maxTicksLimit: this.drawing.clientWidth < 400 ? 4 : 6, callback: (x) => this.x(x)}},
        y: {beginAtZero: true, suggestedMax: this.most, grid, ticks: {...ticks, maxTicksLimit: 5, callback: (y) => this.format(y)}},
      },
      plugins: {
        legend: {display: false},
        tooltip: {callbacks: {title: ([item]) => (item ? this.xLong(item.parsed.x) : ''),
          label: (item) => `${item.dataset.label} ${this.format(item.parsed.y)}`}},
      },
    };
  }

  fillTable() {
    if (!this.details.open) return;
    const rows = new Map();
    this.series.forEach(({points}, i) => {
      for (const [x, y] of points) rows.set(x, (rows.get(x) ?? []).concat([[i, y]]));
    });
    const newest = [...rows.keys()].sort((a, b) => b - a).slice(0, MOST_ROWS);
    const cells = (x) => this.series.map((_, i) => {
      const found = rows.get(x).find(([series]) => series === i);
      return el('td', {class: 'number'}, found ? el('data', {value: String(found[1])}, this.format(found[1])) : '');
    });
    this.table.replaceChildren(el('table', {}, el('caption', {}, `${this.title}, the newest first`),
      el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, 'At'),
        ...this.series.map(({label}) => el('th', {scope: 'col', class: 'number'}, label || 'Value')))),
      el('tbody', {}, ...newest.map((x) => el('tr', {}, el('th', {scope: 'row'}, this.xLong(x)), ...cells(x))))));
  }

  destroy() {
    this.chart?.destroy();
    this.chart = undefined;
  }

  close() {
    dark.removeEventListener('change', this.recolour);
    this.destroy();
  }
}
