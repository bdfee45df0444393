// SPDX-License-Identifier: Apache-2.0
// Sends requests to the data API through koordctl ui. The responses are the same as from `koordctl … -o json`.

export class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

// koordctl ui waits 25 s for the agent. A dead connection does not end by itself.
const PATIENCE_S = 35;

// Returns the parsed JSON; an error may be plain text.
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {error: text.trim().slice(0, 500) || 'an empty answer'};
  }
}

async function ask(path, parameters) {
  const query = new URLSearchParams();
  for (const [name, values] of Object.entries(parameters))
    for (const value of [values].flat()) if (value !== undefined && value !== '') query.append(name, value);
  const text = query.toString();
  let response, body;
  try {
    const signal = AbortSignal.timeout(1000 * PATIENCE_S);
    response = await fetch(path + (text ? `?${text}` : ''), {cache: 'no-store', credentials: 'same-origin', signal});
    body = await response.text();
  } catch (error) {
    throw new Refused(0, error.name === 'TimeoutError' ? `koordctl ui did not answer within ${PATIENCE_S} s; is the connection to it dead?`
      : 'koordctl ui does not answer; has it ended?');
  }
  if (response.status === 401) throw new Refused(401, 'The session has ended. Open the link that koordctl ui printed.');
  const answer = parsed(body);
  if (!response.ok || answer.error) throw new Refused(response.status, answer.error ?? `status ${response.status}`);
  return answer;
}

export const get = (what, parameters = {}) => ask(`/api/v1/${what}`, parameters);
// Identifies the newest of several requests that replace each other: `const isLast = begin(); await …; if (!isLast())
// return;`
export function turns() {
  let last = 0;
  return () => {
    const own = ++last;
    return () => own === last;
  };
}

export const sql = (query, limit) => ask('/sql', {query, limit});
