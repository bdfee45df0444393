// SPDX-License-Identifier: Apache-2.0
// Creates elements of the page. All text from the agent becomes a text node or a plain attribute, never markup.

// el('p', {class: 'note'}, 'text', child, …): attributes that are undefined, null or false are omitted.
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null && value !== false)
      element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null && child !== ''));
  return element;
}

// Returns a formatted number with the exact value: <data value="0.0421">42.1ms</data>.
export function number(value, format) {
  if (typeof value !== 'number') return '-';
  return el('data', {value: String(value), title: String(value)}, format(value));
}

// rows: [term, text or node, small text], …
export function facts(rows) {
  return el('dl', {class: 'facts'}, ...rows.map(([term, shown, small, tone]) =>
    el('div', {}, el('dt', {}, term), el('dd', {class: tone && `tone-${tone}`}, shown, small ? el('small', {}, small) : ''))));
}

// Returns a labelled input of a form.
export function labelled(text, input) {
  return el('label', {}, text, input);
}

export function options(select, values, chosen) {
  for (const [value, text] of values) select.append(el('option', {value, selected: value === chosen}, text));
  return select;
}
