/* SPDX-License-Identifier: Apache-2.0 */

/* The trace that the page shows, a window of it at a time, made ready for quick questions: what lived after a call, and what had
 * changed. A page of a short trace holds all of it. One that is served (view_server.h) asks for the window that it needs. */

const $ = id => document.getElementById(id);
const ALL = JSON.parse($('data').textContent), TRACES = ALL.traces, LIVE = !!ALL.live;
/* The address bar holds the call, "#14"; of several traces the trace, too: "#2:14". */
const asked = () => {
  const [, trace, call] = /^#(?:(\d+):)?(\d+)/.exec(location.hash) || [];
  return { trace: Math.min(Math.max(1, Number(trace) || 1), TRACES.length) - 1, call: Number(call) || 0 };
};
const anchor = (trace, call) => '#' + (TRACES.length > 1 ? `${trace + 1}:` : '') + (call + 1);
const HERE = asked().trace, D = TRACES[HERE];
const N = D.calls, M = D.objects, NEVER = 0x7fffffff;
const [RESERVATION, MAPPING, HANDLE, MULTICAST, BIND, ALLOCATION, CONTEXT, STREAM, EVENT, DESCRIPTOR] = D.kinds.keys();
const LETTERS = 'RMHHBACSED';
const LIST_MOST = 50, NARROW = 3;
const RESULTS = new Map(D.results.map(([code, name, meaning]) => [code, [name, meaning]]));
const saidCalls = Int32Array.from(D.said.call);

/* ---- the window ---- */

let first = 0, end = 0;       /* its calls: [first, end) */
let selected = -1;            /* the object that is shown in words */
let C = {}, O = {}, W = { rules: {} };  /* columns by call, by object, and the rest; they have entries for the window alone */
let born = [], died = [];     /* by object */
let ids = [];                 /* its objects, by address */
let touchFirst = [], saidOf = new Map(), changesOf = new Map();

/* A column whose entries stand at the indexes of the whole trace. */
const spread = (column, at) => {
  const sparse = [];
  column.forEach((value, i) => { sparse[at(i)] = value; });
  return sparse;
};

/* Objects' columns, of the window or beside it. */
function takeObjects(objects) {
  const { id } = objects;
  for (const [key, column] of Object.entries(objects))
    column.forEach((value, i) => { (O[key] = O[key] || [])[id[i]] = value; });
  id.forEach((o, i) => {
    born[o] = objects.born[i];
    died[o] = objects.died[i] < 0 ? NEVER : objects.died[i];
  });
}

/* An object that is shown stays, and what it refers to, where another window does not have them. */
function entriesOf(o) {
  if (o < 0 || born[o] === undefined) return [];
  const all = [o, O.handle[o], O.memory[o], O.context[o]].filter(i => i >= 0 && born[i] !== undefined);
  return all.map(i => [i, born[i], died[i], Object.entries(O).map(([key, column]) => [key, column[i]])]);
}
function keepEntries(entries) {
  for (const [o, from, to, values] of entries) {
    if (born[o] !== undefined) continue;
    [born[o], died[o]] = [from, to];
    for (const [key, value] of values) (O[key] = O[key] || [])[o] = value;
  }
}

function takeWindow(window) {
  const shown = entriesOf(selected);
  W = window;
  first = W.first;
  end = first + W.calls.n.length;
  C = {};
  for (const [key, column] of Object.entries(W.calls)) C[key] = spread(column, i => first + i);
  touchFirst = [];
  let sum = 0;
  for (let call = first; call <= end; call++) {
    touchFirst[call] = sum;
    sum += C.touched[call] || 0;
  }
  [O, born, died] = [{}, [], []];
  takeObjects(W.objects);
  keepEntries(shown);
  ids = [...W.objects.id].sort((a, b) => O.start[a] - O.start[b] || O.kind[a] - O.kind[b] || a - b);
  saidOf = new Map(W.said.map(s => [s.call, s]));
  changesOf = new Map(); /* each object's are side by side, in the order of calls */
  W.changes.object.forEach((o, i) => {
    if (changesOf.has(o)) changesOf.get(o)[1] = i + 1;
    else changesOf.set(o, [i, i + 1]);
  });
}
const ruleOf = id => W.rules[id] || D.rules[id];

/* Calls that can be shown at all: those of the page, or, where it is served, all. */
const lowest = LIVE || !D.window ? 0 : D.window.first;
const highest = LIVE || !D.window ? N - 1 : D.window.first + D.window.calls.n.length - 1;
const holds = call => call >= first && call < end;

/* ---- what is asked for where the page is served ---- */

const ask = async (what, values) => {
  const answer = await fetch(`${what}?${new URLSearchParams({ trace: HERE, ...values })}`);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
};

const WINDOW = 4096;           /* calls */
const windows = new Map();     /* by number of their half: the last few that were asked for */
/* A window begins at half a window's step, so that what is near its end is in the middle of the next one. */
function windowAt(half) {
  if (!windows.has(half)) {
    windows.set(half, ask('window', { first: half * WINDOW / 2 }).catch(error => {
      windows.delete(half);
      $('complaint').hidden = false;
      $('complaint').textContent = `cuvmm view does not answer any more: ${error.message}`;
      throw error;
    }));
    if (windows.size > 6) windows.delete(windows.keys().next().value);
  }
  return windows.get(half);
}
const halfOf = call => Math.max(0, Math.round(call / (WINDOW / 2)) - 1);

/* Makes a call that the window does not hold its own; of several that are waited for only the last. Then next() is called. */
let awaited = -1;
async function reach(call, next) {
  awaited = call;
  const window = await windowAt(halfOf(call));
  if (awaited !== call) return;
  awaited = -1;
  takeWindow(window);
  next();
}

/* What lies ahead is asked for before it is needed: within a quarter of an end of the window, what is behind that. */
function lookAhead(call) {
  if (end < N && call >= end - WINDOW / 4) windowAt(halfOf(end)).catch(() => {});
  if (first > 0 && call < first + WINDOW / 4) windowAt(halfOf(first - 1)).catch(() => {});
}

/* ---- words ---- */

const name = o => LETTERS[O.kind[o]] + O.number[o];
const hex = n => '0x' + n.toString(16);
const size = n => {
  for (const [unit, bytes] of [['TiB', 2 ** 40], ['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]])
    if (n >= bytes) return (Number.isInteger(n / bytes) ? n / bytes : (n / bytes).toFixed(1)) + ' ' + unit;
  return n + ' B';
};
const number = new Intl.NumberFormat('en');
const count = (n, one, many) => number.format(n) + ' ' + (n === 1 ? one : many || one + 's');
/* A place is its type and its id. */
const partsOf = p => [p >> 16, p & 0xffff];
const isHost = p => partsOf(p)[0] > 1;
const place = p => {
  const [type, id] = partsOf(p);
  return type === 1 ? 'dev' + id : type === 0 ? 'unknown place' : type === 3 ? 'numa' + id : 'host';
};
const rightsText = value => value === 3 ? 'rw' : value === 1 ? 'r-' : '--';

/* ---- what there was ---- */

/* What of an object has changed up to a call: references, rights by place, devices of a team. */
function changed(o, call) {
  const seen = { references: 0, rights: new Map(), devices: [] }, [from, to] = changesOf.get(o) || [0, 0];
  for (let c = from; c < to; c++) {
    if (W.changes.call[c] > call) break;
    if (W.changes.kind[c] === 0) seen.rights.set(W.changes.place[c], W.changes.value[c]);
    else if (W.changes.kind[c] === 1) seen.references = W.changes.value[c];
    else seen.devices.push(place(W.changes.place[c]));
  }
  return seen;
}

/* Places that are ever given rights: a line each below a mapping. */
const grantees = [...D.grantees].sort((a, b) => a - b);
const shownGrantees = grantees.slice(0, 8);

/* Everything that lives after a call, by kind; by address where it has one. */
function alive(call) {
  const lists = D.kinds.map(() => []);
  for (const o of ids) if (born[o] <= call && call < died[o]) lists[O.kind[o]].push(o);
  for (const kind of [HANDLE, MULTICAST, BIND, CONTEXT, STREAM, EVENT, DESCRIPTOR]) lists[kind].sort((a, b) => a - b);
  return lists;
}
