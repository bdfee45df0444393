// SPDX-License-Identifier: Apache-2.0
// Formats numbers and times like koordctl.

// Rounds like koordctl, exact halves to the even digit: 1.125 is "1.12". toFixed() rounds them up.
function fixed(value, digits) {
  const size = Math.abs(value), text = size.toFixed(digits), exact = size.toFixed(digits + 25);
  const isHalf = /^50*$/.test(exact.slice(exact.indexOf('.') + 1 + digits));
  const even = isHalf && Number(text.at(-1)) % 2 ? (size - 10 ** -digits / 4).toFixed(digits) : text;
  return (value < 0 ? '-' : '') + even;
}

const threeFigures = (value) => fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);

export const cores = (value) => fixed(value, 3);

export function bytes(value) {
  const units = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'];
  let unit = 0;
  for (; Math.abs(value) >= 1024 && unit + 1 < units.length; ++unit) value /= 1024;
  return unit === 0 ? fixed(value, 0) : threeFigures(value) + units[unit];
}

export function seconds(value) {
  if (value === 0) return '0';
  const units = ['s', 'ms', 'us', 'ns'];
  let unit = 0;
  for (; Math.abs(value) < 1 && unit + 1 < units.length; ++unit) value *= 1000;
  return threeFigures(value) + units[unit];
}

export const percent = (ratio) => `${fixed(100 * ratio, 1)}%`;
export const ofHundred = (value) => `${fixed(value, 1)}%`;
export const plain = (value) => String(value);

// Returns "2026-01-02 14:02:11" in UTC.
export function time(unixSeconds) {
  const date = new Date(Math.floor(unixSeconds) * 1000);
  return Number.isNaN(date.getTime()) ? '-' : date.toISOString().slice(0, 19).replace('T', ' ');
}
export const clock = (unixSeconds) => time(unixSeconds).slice(11);

export function figures(value) {
  const size = Math.abs(value);
  if (size >= 1e7) return value.toExponential(1).replace(/e\+(\d)$/, 'e+0$1');
  if (size > 0 && size < 0.095) return String(Number(value.toPrecision(1)));
  return fixed(value, size === 0 || size >= 9.95 ? 0 : 1);
}

// Formats an amount of a verdict in the verdict's unit.
export function amount(value, unit) {
  if (typeof value !== 'number') return 'unknown';
  if (unit === 'bytes' && value >= 0) return bytes(value);
  if (unit === 'ratio') return `${figures(100 * value)} %`;
  if (unit === 'seconds/second') return `${figures(1000 * value)} ms/s`;
  if (unit === 'seconds') return `${figures(1000 * value)} ms`;
  return `${figures(value)} ${unit ?? ''}`.trim();
}

// Returns the format for a metric by the end of its name.
export function ofMetric(name) {
  if (/(_bytes|memory_usage\w*|_cold_page_size|_memory_total)$/.test(name)) return bytes;
  if (/_seconds$/.test(name)) return seconds;
  if (/_cpu_usage$/.test(name)) return cores;
  if (/(_ratio|_throttled)$/.test(name)) return percent;
  return plain;
}
