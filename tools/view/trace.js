/* SPDX-License-Identifier: Apache-2.0 */

/* The trace that the page holds, made ready for quick questions: what lived after a call, and what had changed. */

const $ = id => document.getElementById(id);
const ALL = JSON.parse($('data').textContent), TRACES = ALL.traces || [ALL];
/* The address bar holds the call, "#14"; of several traces the trace, too: "#2:14". */
const asked = () => {
  const [, trace, call] = /^#(?:(\d+):)?(\d+)/.exec(location.hash) || [];
  return { trace: Math.min(Math.max(1, Number(trace) || 1), TRACES.length) - 1, call: Number(call) || 0 };
};
const anchor = (trace, call) => '#' + (TRACES.length > 1 ? `${trace + 1}:` : '') + (call + 1);
const HERE = asked().trace, D = TRACES[HERE];
const C = D.calls, O = D.objects, N = C.words.length, M = O.kind.length, NEVER = 0x7fffffff;
const [RESERVATION, MAPPING, HANDLE, MULTICAST, BIND, ALLOCATION, CONTEXT, STREAM, EVENT, DESCRIPTOR] = D.kinds.keys();
const LETTERS = 'RMHHBACSED';
const LIST_MOST = 50, NARROW = 3;

/* ---- the trace, made ready for quick questions ---- */

const born = Int32Array.from(O.born), died = Int32Array.from(O.died, d => d < 0 ? NEVER : d);
const starts = (counts, n) => {
  const first = new Uint32Array(n + 1);
  for (let i = 0; i < n; i++) first[i + 1] = first[i] + counts[i];
  return first;
};
const touchFirst = starts(C.touched, N);

/* Changes by object: changesOf(o) are indexes into D.changes, in the order of calls. */
const changeFirst = (() => {
  const counts = new Uint32Array(M);
  for (const o of D.changes.object) counts[o]++;
  return starts(counts, M);
})();
const changeAt = (() => {
  const next = changeFirst.slice(), at = new Uint32Array(D.changes.object.length);
  D.changes.object.forEach((o, i) => { at[next[o]++] = i; });
  return at;
})();

/* By address, so that lists of what lives come out in order. */
const byStart = Uint32Array.from(O.kind.keys()).sort((a, b) => O.start[a] - O.start[b] || O.kind[a] - O.kind[b] || a - b);
const saidOf = new Map(D.said.map(s => [s.call, s]));
const saidCalls = Int32Array.from(D.said, s => s.call);

const name = o => LETTERS[O.kind[o]] + O.number[o];
const hex = n => '0x' + n.toString(16);
const size = n => {
  for (const [unit, bytes] of [['TiB', 2 ** 40], ['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]])
    if (n >= bytes) return (Number.isInteger(n / bytes) ? n / bytes : (n / bytes).toFixed(1)) + ' ' + unit;
  return n + ' B';
};
const number = new Intl.NumberFormat('en');
const count = (n, one, many) => number.format(n) + ' ' + (n === 1 ? one : many || one + 's');
const isHost = p => D.places[p] && D.places[p][0] > 1;
const place = p => {
  const [type, id] = D.places[p] || [0, 0];
  return type === 1 ? 'dev' + id : type === 0 ? 'unknown place' : type === 3 ? 'numa' + id : 'host';
};
const rightsText = value => value === 3 ? 'rw' : value === 1 ? 'r-' : '--';

/* What of an object has changed up to a call: references, rights by place, devices of a team. */
function changed(o, call) {
  const seen = { references: 0, rights: new Map(), devices: [] };
  for (let i = changeFirst[o]; i < changeFirst[o + 1]; i++) {
    const c = changeAt[i];
    if (D.changes.call[c] > call) break;
    if (D.changes.kind[c] === 0) seen.rights.set(D.changes.place[c], D.changes.value[c]);
    else if (D.changes.kind[c] === 1) seen.references = D.changes.value[c];
    else seen.devices.push(place(D.changes.place[c]));
  }
  return seen;
}

/* Places that are ever given rights: a line each below a mapping. */
const grantees = [...new Set(D.changes.place.filter((p, i) => D.changes.kind[i] === 0))]
  .sort((a, b) => D.places[a][0] - D.places[b][0] || D.places[a][1] - D.places[b][1]);
const shownGrantees = grantees.slice(0, 8);

/* Everything that lives after a call, by kind; by address where it has one. */
function alive(call) {
  const lists = D.kinds.map(() => []);
  for (let i = 0; i < M; i++) {
    const o = byStart[i];
    if (born[o] <= call && call < died[o]) lists[O.kind[o]].push(o);
  }
  for (const kind of [HANDLE, MULTICAST, BIND, CONTEXT, STREAM, EVENT, DESCRIPTOR]) lists[kind].sort((a, b) => a - b);
  return lists;
}

/* Bytes of physical memory in use after each call; memory that several handles name counts once. */
const used = (() => {
  const change = new Float64Array(N + 1), until = new Map();
  for (let o = 0; o < M; o++) {
    if (O.kind[o] === ALLOCATION) { change[born[o]] += O.size[o]; if (died[o] !== NEVER) change[died[o]] -= O.size[o]; }
    if (O.kind[o] === HANDLE) until.set(O.memory[o], Math.max(until.get(O.memory[o]) || 0, died[o]));
  }
  for (const [o, end] of until) { change[born[o]] += O.size[o]; if (end !== NEVER) change[end] -= O.size[o]; }
  let sum = 0;
  return change.subarray(0, N).map(c => sum += c);
})();
const mostUsed = used.reduce((a, b) => Math.max(a, b), 0);
