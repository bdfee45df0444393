// SPDX-License-Identifier: Apache-2.0
// The samples of metrics over a span of time. The first request gets the whole span, later ones only what is new.
import {get} from './api.js';

export const SPANS = [['900', '15 minutes'], ['3600', '1 hour'], ['43200', '12 hours']];
const MOST_POINTS = 900;

export class Samples {
  // `span` in seconds; `labels`: ["pod_uid=…", …], only series with these labels
  constructor(metric, span, labels = []) {
    Object.assign(this, {metric, span, labels, rows: new Map(), newest: undefined});
  }

  async refresh() {
    const parameters = {metric: this.metric, raw: 'true', label: this.labels};
    if (this.newest === undefined) parameters.window = `${this.span}s`;
    else parameters.from = String(this.newest);
    const answer = await get('query', parameters);
    for (const {labels, samples} of answer.rows) this.add(labels, samples);
    for (const [key, row] of this.rows) {
      row.samples = row.samples.filter(([at]) => at >= answer.to - this.span);
      if (row.samples.length === 0) this.rows.delete(key);
    }
    return this;
  }

  add(labels, samples) {
    const key = JSON.stringify(labels), row = this.rows.get(key) ?? {labels, samples: []};
    this.rows.set(key, row);
    const last = row.samples[row.samples.length - 1]?.[0] ?? -Infinity;
    for (const sample of samples) if (sample[0] > last) row.samples.push(sample);
    const end = row.samples[row.samples.length - 1]?.[0];
    if (end !== undefined) this.newest = Math.max(this.newest ?? 0, end);
  }

  // [{label, points}], named by `name(labels)`; series that it does not name are left out.
  lines(name) {
    return [...this.rows.values()]
      .map(({labels, samples}) => ({label: name(labels), points: thinned(samples, this.span)}))
      .filter(({label}) => label !== undefined)
      .sort((a, b) => (a.label < b.label ? -1 : 1));
  }
}

// Keeps the highest sample of each stretch of time if there are more than a chart can show.
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

// The increase per second between samples of a counter; nothing where it began again.
export function rates(lines) {
  return lines.map(({label, points}) => ({
    label,
    points: points.slice(1)
      .map(([at, value], i) => [at, (value - points[i][1]) / (at - points[i][0])])
      .filter(([, rate]) => rate >= 0),
  }));
}

// Charts of metrics: {chart, samples: [[Samples, name(labels), rate]]}. A chart without samples is hidden.
export async function refreshCharts(charts) {
  const missing = [];
  await Promise.all(charts.map(async ({chart, parts}) => {
    const lines = [];
    for (const {samples, name, isRate} of parts) {
      await samples.refresh();
      const found = samples.lines(name);
      lines.push(...(isRate ? rates(found) : found));
    }
    chart.element.hidden = lines.length === 0;
    if (lines.length === 0) missing.push(chart.title);
    chart.update(lines);
  }));
  return missing;
}
