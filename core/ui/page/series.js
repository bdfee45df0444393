// SPDX-License-Identifier: Apache-2.0
// The samples of metrics over a time span. The span is requested in slices, one after the other, because each response
// needs memory of the agent. Later requests read only new samples.
import {get} from './api.js';
import {el} from './dom.js';

export const SPANS = [['900', '15 minutes'], ['3600', '1 hour'], ['43200', '12 hours']];
const SLICE_S = 1800;
const MOST_POINTS = 900;
const LATE_S = 60;  // maximum delay between the time and the arrival of a metric's first sample
const CLOCK_TOLERANCE_S = 2;

const now = () => performance.now() / 1000;

export class Samples {
  // `span` in seconds; `labels`: ["pod_uid=…", …], only series with these labels
  constructor(metric, span, labels = []) {
    Object.assign(this, {metric, span, labels, rows: new Map(), newest: undefined, clock: undefined});
  }

  // Stops when isWanted() returns false.
  async refresh(isWanted = () => true) {
    if (!this.clock || !await this.refreshNew()) await this.refreshAll(isWanted);
    return this;
  }

  async refreshAll(isWanted) {
    this.rows.clear();
    this.newest = this.clock = undefined;
    const clock = await this.ask({window: `${Math.min(this.span, SLICE_S)}s`}), {to} = clock;
    for (let age = SLICE_S; age < this.span && isWanted(); age += SLICE_S)
      await this.ask({from: String(to - Math.min(age + SLICE_S, this.span)), to: String(to - age)});
    if (isWanted()) this.clock = clock;
  }

  // Returns false if the agent's clock was set, because the known samples would have different times now.
  async refreshNew() {
    const before = this.clock;
    let clock;
    try {
      clock = await this.ask({from: String(this.newest ?? before.to - LATE_S)});
    } catch (error) {
      if (error.status === 400) return false;  // `from` is after the agent's current time
      throw error;
    }
    const passed = clock.to - before.to;
    if (passed < clock.sent - before.received - CLOCK_TOLERANCE_S || passed > clock.received - before.sent + CLOCK_TOLERANCE_S) return false;
    this.clock = clock;
    for (const [key, row] of this.rows) {
      row.samples = row.samples.filter(([at]) => at >= clock.to - this.span);
      if (row.samples.length === 0) this.rows.delete(key);
    }
    return true;
  }

  // Returns the agent's time, and this page's times of the request and of the response.
  async ask(times) {
    const sent = now();
    const answer = await get('query', {metric: this.metric, raw: 'true', label: this.labels, ...times});
    for (const {labels, samples} of answer.rows) this.add(labels, samples);
    return {to: answer.to, sent, received: now()};
  }

  // Adds samples that are newer or older than all known samples.
  add(labels, samples) {
    const key = JSON.stringify(labels), row = this.rows.get(key) ?? {labels, samples: [], first: Infinity, last: -Infinity};
    const older = row.samples.length ? thinned(samples.filter(([at]) => at < row.first), this.span) : [];
    const newer = samples.filter(([at]) => at > row.last);
    if (older.length + newer.length === 0) return;
    this.rows.set(key, row);
    row.samples = thinned([...older, ...row.samples, ...newer], this.span);
    row.first = Math.min(row.first, samples[0][0]);
    row.last = Math.max(row.last, samples[samples.length - 1][0]);
    this.newest = Math.max(this.newest ?? 0, row.last);
  }

  // Returns [{label, points}]. `name(labels)` returns the label; series without a label are omitted.
  lines(name) {
    return [...this.rows.values()]
      .map(({labels, samples}) => ({label: name(labels), points: samples}))
      .filter(({label}) => label !== undefined)
      .sort((a, b) => (a.label < b.label ? -1 : 1));
  }
}

// Keeps only the highest sample of each interval if a chart cannot show all samples.
function thinned(samples, span) {
  if (samples.length <= MOST_POINTS) return samples;
  const stretch = Math.ceil(span / MOST_POINTS), kept = [];
  let end = -Infinity;
  for (const sample of samples) {
    if (sample[0] >= end) {
      kept.push(sample);
      end = (Math.floor(sample[0] / stretch) + 1) * stretch;
    } else if (sample[1] > kept[kept.length - 1][1]) {
      kept[kept.length - 1] = sample;
    }
  }
  return kept;
}

// Returns the increase of a counter per second between samples; no value after a reset of the counter.
export function rates(lines) {
  return lines.map(({label, points}) => ({
    label,
    points: points.slice(1)
      .map(([at, value], i) => [at, (value - points[i][1]) / (at - points[i][0])])
      .filter(([, rate]) => rate >= 0),
  }));
}

// The charts of a view: {chart, parts: [{samples, name(labels), isRate}]}. A chart without samples is hidden.
export class ChartGroup {
  constructor() {
    this.element = el('div', {class: 'charts'});
    this.missing = el('p', {class: 'note'});
    Object.assign(this, {shown: [], asked: undefined, isClosed: false});
  }

  // Replaces the charts by the charts that make() returns. Does nothing after close().
  async restart(make) {
    if (this.isClosed) return;
    this.shown.forEach(({chart}) => chart.close());
    this.shown = make();
    this.element.replaceChildren(...this.shown.map(({chart}) => chart.element));
    await this.refresh();
  }

  // Returns immediately if a refresh of the same charts is running.
  async refresh() {
    const shown = this.shown, isWanted = () => shown === this.shown && !this.isClosed, missing = [];
    if (this.asked === shown) return;
    this.asked = shown;
    try {
      for (const {chart, parts} of shown) {
        const lines = await linesOf(parts, isWanted);
        if (!isWanted()) return;
        chart.element.hidden = lines.length === 0;
        if (lines.length === 0) missing.push(chart.title);
        chart.update(lines);
      }
      this.missing.textContent = missing.length ? `Without samples in this span: ${missing.join('; ')}.` : '';
    } finally {
      if (this.asked === shown) this.asked = undefined;
    }
  }

  close() {
    this.isClosed = true;
    this.shown.forEach(({chart}) => chart.close());
  }
}

async function linesOf(parts, isWanted) {
  const lines = [];
  for (const {samples, name, isRate} of parts) {
    await samples.refresh(isWanted);
    if (!isWanted()) return [];
    const found = samples.lines(name);
    lines.push(...(isRate ? rates(found) : found));
  }
  return lines;
}
