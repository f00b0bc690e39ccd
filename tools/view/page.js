
'use strict';
(() => {
const $ = id => document.getElementById(id);
const D = JSON.parse($('data').textContent);
const C = D.calls, O = D.objects, N = C.words.length, M = O.kind.length, NEVER = 0x7fffffff;
const [RESERVATION, MAPPING, HANDLE, MULTICAST, BIND, ALLOCATION, CONTEXT, STREAM, EVENT, DESCRIPTOR] = D.kinds.keys();
const LETTERS = 'RMHHBACSED';
const LIST_MOST = 100, NARROW = 3;

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
const count = (n, one, many) => n.toLocaleString('en') + ' ' + (n === 1 ? one : many || one + 's');
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
const grantees = [...new Set(D.changes.place.filter((p, i) => D.changes.kind[i] === 0))].sort((a, b) => D.places[a][0] - D.places[b][0] || D.places[a][1] - D.places[b][1]);
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

/* ---- small helpers of the document ---- */

function make(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {}))
    if (key === 'text') e.textContent = value;
    else if (key === 'on') e.addEventListener('click', value);
    else if (value !== undefined && value !== false) e.setAttribute(key, value);
  e.append(...children.filter(c => c !== undefined && c !== null));
  return e;
}
const objectButton = o => make('button', { type: 'button', class: 'name', text: name(o), on: () => select(o, true) });
const resultName = call => D.results[C.result[call]][1];
/* A trace writes the bytes of a text one by one. */
const text = bytes => {
  try { return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes, c => c.charCodeAt(0))); } catch { return bytes; }
};

/* ---- state of the page ---- */

let now = 0, selected = -1, lists = alive(0), playing = 0, zoom = 1, shift = 0;

function go(call, quiet) {
  if (!N) return;
  now = Math.max(0, Math.min(N - 1, call));
  lists = alive(now);
  $('slider').value = now + 1;
  $('slider').setAttribute('aria-valuetext', `call ${now + 1} of ${N}: ${C.words[now]}`);
  $('position').textContent = `call ${(now + 1).toLocaleString('en')} of ${N.toLocaleString('en')}`;
  showCall();
  drawStrip();
  draw();
  showNow();
  showAround();
  if (selected >= 0) showObject();
  const at = problemAfter(now);
  $('next-problem').disabled = at >= saidCalls.length;
  $('previous-problem').disabled = problemBefore(now) < 0;
  $('first').disabled = $('back').disabled = now === 0;
  $('last').disabled = $('forward').disabled = now === N - 1;
  if (!quiet) {
    $('say').textContent = `Call ${now + 1}: ${C.words[now]}, ${resultName(now)}. ${$('effect').textContent}`;
    history.replaceState(null, '', '#' + (now + 1));
  }
}

/* Index into said of the first problem after the call, and of the last before it. */
function problemAfter(call) {
  let low = 0, high = saidCalls.length;
  while (low < high) { const middle = (low + high) >> 1; if (saidCalls[middle] <= call) low = middle + 1; else high = middle; }
  return low;
}
function problemBefore(call) {
  let at = problemAfter(call) - 1;
  return at >= 0 && saidCalls[at] === call ? at - 1 : at;
}

/* ---- the call and why it was refused ---- */

function objectPhrase(o) {
  const kind = D.kinds[O.kind[o]], parts = [kind + ' ' + name(o)];
  if (O.kind[o] === RESERVATION || O.kind[o] === MAPPING || O.kind[o] === ALLOCATION)
    parts.push(`[${hex(O.start[o])}, ${hex(O.start[o] + O.size[o])})`);
  if (O.size[o]) parts.push(size(O.size[o]));
  if (O.kind[o] === MAPPING && O.handle[o] >= 0) parts.push('of ' + name(O.handle[o]));
  parts.push(`made by call ${born[o] + 1} (${D.names[C.name[born[o]]]})`);
  if (died[o] !== NEVER) parts.push(`ended by call ${died[o] + 1} (${D.names[C.name[died[o]]]})`);
  return parts.join(', ');
}

function explanation(s) {
  const rule = s.rule && D.rules[s.rule], list = make('dl');
  const box = make('div', { class: 'why' + (s.severity === 1 ? ' warn' : '') });
  const add = (title, value) => { if (value) list.append(make('dt', { text: title }), make('dd', {}, value)); };
  box.append(make('p', { text: (s.severity === 2 ? 'Refused' : rule && rule.hazard ? 'Hazard' : 'Warning') + (s.rule ? ': ' + s.rule : '') }));
  if (rule) add('What', rule.what);
  if (s.argument) add('Argument', `${s.argument} = ${s.value}` + (s.expected ? `, compared with ${s.expected}` : ''));
  if (s.object !== undefined) add('Nearest', make('span', {}, objectButton(s.object), ' ' + objectPhrase(s.object)));
  else if (s.nearest) add('Nearest', s.nearest[0] === 'D' ? 'device ' + s.nearest.slice(1) : s.nearest);
  if (s.note) add('Here', text(s.note));
  if (rule) {
    add('Why', rule.why);
    add('Way out', rule.wayOut);
    add('Documents', rule.documents);
    add('Observed', rule.observed);
  } else if (s.rule) {
    add('Why', 'This cuvmm does not know the rule; a newer one wrote the trace.');
  } else {
    add('Why', 'The trace holds the result alone, as a driver gives it. Recorded with the layers "trace=FILE|shadow|cuda" it would name the rule.');
    if (s.could.length) add('May be', make('ul', {}, ...s.could.map(id => make('li', { text: `${id}: ${D.rules[id].what}` }))));
  }
  box.append(list);
  return box;
}

function showCall() {
  const s = saidOf.get(now), [code, result, meaning] = D.results[C.result[now]];
  const bad = s && s.severity === 2;
  $('call-title').textContent = `Call ${now + 1}` + (C.n[now] !== now + 1 ? ` (ordinal ${C.n[now]})` : '') + (C.thread.some(t => t > 1) ? `, thread ${C.thread[now]}` : '');
  $('words').textContent = C.words[now];
  $('result').replaceChildren(
    make('span', { class: 'badge ' + (bad ? 'error' : s ? 'warn' : code ? '' : 'good'), text: (bad ? '\u2715 ' : s ? '\u26a0 ' : code ? '' : '\u2713 ') + result }),
    code ? ' ' + meaning : '', C.answers[now] ? make('code', { text: '  ' + text(C.answers[now]) }) : '');
  const made = [], gone = [], changedNow = [];
  for (let i = touchFirst[now]; i < touchFirst[now + 1]; i++) {
    const o = D.touched[i];
    if (born[o] === now) made.push(o);
    else if (died[o] === now) gone.push(o);
    else for (let c = changeFirst[o]; c < changeFirst[o + 1]; c++) if (D.changes.call[changeAt[c]] === now) { changedNow.push(o); break; }
  }
  const some = list => list.slice(0, 12).map(name).join(', ') + (list.length > 12 ? ` and ${list.length - 12} more` : '');
  $('effect').textContent = [made.length && 'Made: ' + some(made), gone.length && 'Gone: ' + some(gone), changedNow.length && 'Changed: ' + some(changedNow)].filter(Boolean).join('. ') || (bad ? 'Nothing changed.' : 'Nothing was made or ended.');
  $('why').replaceChildren(...(s ? [explanation(s)] : []));
}

/* ---- lists of calls ---- */

function callItem(call) {
  const s = saidOf.get(call);
  return make('li', {}, make('button', { type: 'button', 'aria-current': call === now ? 'step' : undefined, on: () => go(call) },
    make('span', { class: 'n', text: call + 1 }),
    make('span', { class: 'mark' + (s && s.severity === 1 ? ' warn' : ''), text: !s ? '' : s.severity === 2 ? '\u2715' : '\u26a0', 'aria-label': !s ? undefined : s.severity === 2 ? 'refused' : 'warning', role: s ? 'img' : undefined }),
    make('span', { text: C.words[call] })));
}

function showAround() {
  const from = Math.max(0, Math.min(now - 8, N - 17)), items = [];
  for (let call = from; call < Math.min(N, from + 17); call++) items.push(callItem(call));
  const focused = $('around-list').contains(document.activeElement);
  $('around-list').replaceChildren(...items);
  if (focused) $('around-list').querySelector('[aria-current]').focus();
}

function showProblems() {
  const most = 200, errors = D.said.filter(s => s.severity === 2).length;
  $('problems-title').textContent = D.said.length ? `Problems: ${errors} refused, ${D.said.length - errors} warned of` : 'Problems';
  $('problems-none').hidden = D.said.length > 0;
  for (const s of D.said.slice(0, most)) {
    const rule = s.rule && D.rules[s.rule];
    const item = make('details', { 'data-call': s.call }, make('summary', {},
      make('b', { class: s.severity === 1 ? 'warn' : '', text: (s.severity === 2 ? '\u2715 refused' : '\u26a0 warning') + ' ' }),
      `call ${s.call + 1}: ${D.names[C.name[s.call]]}, ${rule ? rule.what : D.results[C.result[s.call]][2]}`));
    item.addEventListener('toggle', () => {
      if (!item.open) return;
      if (item.children.length === 1) item.append(explanation(s));
      go(s.call);
    });
    $('problem-list').append(item);
  }
  if (D.said.length > most) $('problem-list').append(make('p', { class: 'soft', text: `and ${D.said.length - most} more; n and p go through all of them` }));
}

/* ---- what exists, as a list ---- */

function mappingItem(o) {
  const seen = changed(o, now).rights, parts = [objectButton(o), ` ${hex(O.start[o])}, ${size(O.size[o])}, memory `];
  parts.push(O.handle[o] >= 0 ? objectButton(O.handle[o]) : 'from before the trace', O.offset[o] ? ` from ${size(O.offset[o])} ` : ' ');
  for (const p of grantees) parts.push(make('span', { class: 'rights', text: `${place(p)} ${rightsText(seen.get(p) || 0)}` }));
  if (!grantees.length) parts.push(make('span', { class: 'rights', text: 'no rights yet' }));
  return make('li', {}, ...parts);
}

function handleItem(o) {
  const seen = changed(o, now), item = make('li', {}, objectButton(o));
  if (O.kind[o] === MULTICAST) item.append(` ${size(O.size[o])} on a team of ${O.team[o]}: ${seen.devices.join(', ') || 'none yet'}`);
  else item.append(` ${O.size[o] ? size(O.size[o]) : 'size unknown'} on ${place(O.place[o])}`);
  item.append(`, ${count(seen.references, 'reference')}, ${count(mappingsOf.get(o) || 0, 'mapping')}`);
  if (!seen.references) item.append(make('span', { class: 'soft', text: ' (released)' }));
  if (O.memory[o] >= 0 && O.memory[o] !== o) item.append(', the memory of ', objectButton(O.memory[o]));
  return item;
}

let mappingsOf = new Map();

function section(title, all, item) {
  if (!all.length) return [];
  const list = make('ul', {}, ...all.slice(0, LIST_MOST).map(item));
  if (all.length > LIST_MOST) list.append(make('li', { class: 'soft', text: `and ${(all.length - LIST_MOST).toLocaleString('en')} more; search finds them` }));
  return [make('h3', { text: title }), list];
}

/* The live mappings whose start lies in a reservation; both lists are in order. */
function inside(reservations, mappings) {
  const groups = new Map(), strays = [];
  let r = 0;
  for (const m of mappings) {
    while (r < reservations.length && O.start[reservations[r]] + O.size[reservations[r]] <= O.start[m]) r++;
    const of = reservations[r];
    if (of === undefined || O.start[of] > O.start[m]) strays.push(m);
    else if (groups.has(of)) groups.get(of).push(m);
    else groups.set(of, [m]);
  }
  return { groups, strays };
}

function showNow() {
  const reservations = lists[RESERVATION], { groups, strays } = inside(reservations, lists[MAPPING]);
  mappingsOf = new Map();
  for (const m of lists[MAPPING]) mappingsOf.set(O.handle[m], (mappingsOf.get(O.handle[m]) || 0) + 1);
  let left = LIST_MOST; /* mappings in all */
  const reservationItem = o => {
    const within = groups.get(o) || [], shown = within.slice(0, Math.max(0, left));
    left -= shown.length;
    const list = make('ul', {}, ...shown.map(mappingItem));
    if (shown.length < within.length) list.append(make('li', { class: 'soft', text: `and ${count(within.length - shown.length, 'mapping')} more` }));
    return make('li', {}, objectButton(o), ` ${hex(O.start[o])}, ${size(O.size[o])} reserved, ${count(within.length, 'mapping')}`, within.length ? list : null);
  };
  const plain = o => make('li', {}, objectButton(o), O.kind[o] === CONTEXT ? ' on ' + place(O.place[o]) : O.context[o] >= 0 ? ' of ' + name(O.context[o]) : '');
  $('now-title').textContent = `What exists after call ${now + 1}`;
  $('now-count').textContent = lists.map((list, kind) => list.length && count(list.length, D.kinds[kind])).filter(Boolean).join(', ') || 'nothing';
  $('now-list').replaceChildren(
    ...section('Addresses', reservations, reservationItem), ...section('Mapped outside of a reservation', strays, mappingItem),
    ...section('Memory of cuMemAlloc', lists[ALLOCATION], o => make('li', {}, objectButton(o), ` ${hex(O.start[o])}, ${size(O.size[o])} on ${place(O.place[o])}`)),
    ...section('Physical memory', lists[HANDLE], handleItem), ...section('Multicast objects', lists[MULTICAST], handleItem),
    ...section('Bound to multicast objects', lists[BIND], o => make('li', {}, objectButton(o), ` ${size(O.size[o])} of ${O.memory[o] >= 0 ? name(O.memory[o]) : '?'} in ${O.handle[o] >= 0 ? name(O.handle[o]) : '?'} at ${size(O.start[o])}`)),
    ...section('Exported descriptors', lists[DESCRIPTOR], o => make('li', {}, objectButton(o), O.handle[o] >= 0 ? ' of ' + name(O.handle[o]) : '')),
    ...section('Contexts, streams, events', [...lists[CONTEXT], ...lists[STREAM], ...lists[EVENT]], plain));
}

/* ---- one object ---- */

function select(o, jump) {
  selected = o;
  if (o < 0) {
    $('object').hidden = true;
    draw();
    return;
  }
  if (jump && (now < born[o] || now >= died[o])) go(born[o]);
  showObject();
  draw();
  if (jump) $('object-title').focus({ preventScroll: false });
}

function showObject() {
  const o = selected, facts = [], calls = [], seen = changed(o, now);
  const jump = call => make('button', { type: 'button', class: 'name', text: `call ${call + 1}`, on: () => go(call) });
  facts.push(['Made by', make('span', {}, jump(born[o]), ' ' + C.words[born[o]])]);
  if (O.released[o] >= 0) facts.push(['Last reference', make('span', {}, jump(O.released[o]), ' ' + C.words[O.released[o]])]);
  facts.push(['Ended by', died[o] === NEVER ? 'nothing in this trace' : make('span', {}, jump(died[o]), ' ' + C.words[died[o]])]);
  if ([RESERVATION, MAPPING, ALLOCATION].includes(O.kind[o])) facts.push(['Addresses', `[${hex(O.start[o])}, ${hex(O.start[o] + O.size[o])})`]);
  if (O.size[o]) facts.push(['Size', `${size(O.size[o])} (${O.size[o].toLocaleString('en')} bytes)`]);
  if ([HANDLE, ALLOCATION, CONTEXT].includes(O.kind[o])) facts.push(['Place', place(O.place[o])]);
  if (O.handle[o] >= 0) facts.push([O.kind[o] === BIND ? 'Multicast object' : 'Memory', objectButton(O.handle[o])]);
  if (O.kind[o] === BIND && O.memory[o] >= 0) facts.push(['Memory', objectButton(O.memory[o])]);
  if (O.kind[o] === MAPPING) facts.push(['Rights now', grantees.map(p => `${place(p)} ${rightsText(seen.rights.get(p) || 0)}`).join(', ') || 'none']);
  if (O.kind[o] === HANDLE || O.kind[o] === MULTICAST) facts.push(['References now', String(now < born[o] ? 0 : seen.references)]);
  if (O.exportable[o]) facts.push(['Sharing', 'made to be exported, or imported']);
  $('object-title').textContent = `${name(o)}, ${D.kinds[O.kind[o]]}` + (now < born[o] ? ' (not made yet)' : now >= died[o] ? ' (gone)' : '');
  $('object-facts').replaceChildren(...facts.flatMap(([title, value]) => [make('dt', { text: title }), make('dd', {}, value)]));
  for (let call = 0; call < N; call++)
    for (let i = touchFirst[call]; i < touchFirst[call + 1]; i++) if (D.touched[i] === o) { calls.push(call); break; }
  const near = calls.findIndex(call => call >= now), from = Math.max(0, Math.min((near < 0 ? calls.length : near) - 50, calls.length - 100));
  $('object-calls').replaceChildren(...calls.slice(from, from + 100).map(callItem));
  if (calls.length > 100) $('object-calls').append(make('li', { class: 'soft', text: `${calls.length} calls in all; those around call ${now + 1} are shown` }));
  $('object').hidden = false;
}

/* ---- search ---- */

function search(query) {
  const q = query.trim().toLowerCase(), found = [], most = 40;
  if (!q) return found;
  const address = /^0x[0-9a-f]+$/.test(q) ? Number(q) : -1, exact = /^[rmhbacsed]\d+$/.test(q);
  for (let o = 0; o < M && found.length < most; o++)
    if (exact ? name(o).toLowerCase() === q : address >= 0 ? [RESERVATION, MAPPING, ALLOCATION].includes(O.kind[o]) && O.start[o] <= address && address < O.start[o] + O.size[o] : D.kinds[O.kind[o]].startsWith(q))
      found.push({ object: o });
  for (const s of D.said) {
    if (found.length >= most) break;
    if (s.rule && s.rule.toLowerCase().includes(q)) found.push({ call: s.call });
  }
  for (let call = 0; call < N && found.length < 2 * most; call++)
    if (C.words[call].toLowerCase().includes(q)) found.push({ call });
  return found;
}

function showFound() {
  const found = search($('query').value);
  $('found').hidden = !$('query').value.trim();
  $('found-count').textContent = found.length ? (found.length >= 40 ? 'the first ' : '') + `${found.length} found` : 'nothing found; a name such as H1, an address, a call or a rule';
  $('found-list').replaceChildren(...found.map(f => {
    const words = f.object !== undefined ? objectPhrase(f.object) : `call ${f.call + 1}: ${C.words[f.call]}`;
    return make('li', {}, make('button', { type: 'button', text: words, on: () => { $('found').hidden = true; if (f.object !== undefined) select(f.object, true); else { go(f.call); $('slider').focus(); } } }));
  }));
}

/* ---- drawing ---- */

let paint = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  paint = {};
  for (const key of ['paper', 'card', 'ink', 'soft', 'line', 'faint', 'accent', 'error', 'warn', 'rw', 'r', 'dev0', 'dev1', 'dev2', 'dev3', 'host', 'team', 'edge'])
    paint[key] = style.getPropertyValue('--' + key).trim();
}
const placeColour = p => isHost(p) ? paint.host : D.places[p] && D.places[p][0] === 1 ? paint['dev' + D.places[p][1] % 4] : paint.faint;

/* A canvas as sharp as the screen. Returns its context and size in the page's units. */
function prepare(canvas, height) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth || canvas.parentElement.clientWidth;
  if (height) canvas.style.height = height + 'px';
  const h = height || canvas.clientHeight;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(h * ratio);
  const g = canvas.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { g, width, height: h };
}

/* Memory in use over the calls and where problems are. Drawn once; a line shows the moment. */
let stripPicture = null;
function drawStripPicture() {
  const { g, width, height } = prepare($('strip'));
  const x = call => N < 2 ? 0 : call / (N - 1) * (width - 2) + 1, floor = height - 9;
  g.fillStyle = paint.card;
  g.fillRect(0, 0, width, height);
  g.beginPath();
  g.moveTo(1, floor);
  const columns = Math.min(N, Math.ceil(width) * 2);
  for (let i = 0; i < columns; i++) {
    const from = Math.floor(i * N / columns), to = Math.max(from + 1, Math.floor((i + 1) * N / columns));
    let most = 0;
    for (let call = from; call < to; call++) most = Math.max(most, used[call]);
    const y = floor - (mostUsed ? most / mostUsed : 0) * (floor - 6);
    g.lineTo(x(from), y);
    g.lineTo(x(Math.min(N - 1, to)), y);
  }
  g.lineTo(width - 1, floor);
  g.fillStyle = paint.dev0;
  g.fill();
  g.strokeStyle = paint.line;
  g.strokeRect(.5, .5, width - 1, height - 1);
  for (const s of [...D.said.filter(s => s.severity === 1), ...D.said.filter(s => s.severity === 2)]) {
    g.fillStyle = s.severity === 2 ? paint.error : paint.warn;
    g.fillRect(x(s.call) - 1, s.severity === 2 ? 1 : height / 2, 2, s.severity === 2 ? height - 2 : height / 2 - 1);
  }
  g.fillStyle = paint.soft;
  g.font = '11px system-ui, sans-serif';
  if (height > 40) g.fillText(`memory in use, at most ${size(mostUsed)}`, 6, 14);
  stripPicture = g.getImageData(0, 0, $('strip').width, $('strip').height);
}
function drawStrip() {
  if (!stripPicture) drawStripPicture();
  const g = $('strip').getContext('2d'), ratio = window.devicePixelRatio || 1, width = $('strip').width / ratio;
  g.putImageData(stripPicture, 0, 0);
  const x = N < 2 ? 1 : now / (N - 1) * (width - 2) + 1;
  g.fillStyle = paint.ink;
  g.fillRect(x - 1, 0, 2, $('strip').height / ratio);
}

/* Pieces side by side in width: to scale, but none narrower than what can be seen while there is room for that. */
function lay(pieces, width, gap) {
  const total = pieces.reduce((sum, p) => sum + p.size, 0), gaps = gap * Math.max(0, pieces.length - 1);
  const least = Math.min(30, Math.max(0, (width - gaps) * .6 / Math.max(1, pieces.length)));
  const scale = total ? Math.max(0, width - gaps - least * pieces.length) / total : 0;
  let x = 0;
  for (const p of pieces) {
    p.x = x;
    p.w = least + p.size * scale;
    x += p.w + gap;
  }
}

/* Stretches of addresses that something covers; what lies between them is left out. */
function islands() {
  const all = [];
  for (const kind of [RESERVATION, MAPPING, ALLOCATION]) all.push(...lists[kind]);
  all.sort((a, b) => O.start[a] - O.start[b]);
  const found = [];
  for (const o of all) {
    const last = found[found.length - 1], end = O.start[o] + O.size[o];
    if (last && O.start[o] <= last.end) last.end = Math.max(last.end, end);
    else found.push({ start: O.start[o], end });
  }
  for (const i of found) i.size = i.end - i.start;
  return found;
}

/* Memory by place: a block for each piece, whoever names it. */
function blocks() {
  const rows = new Map(), byMemory = new Map();
  const row = (key, title) => { if (!rows.has(key)) rows.set(key, { title, blocks: [], total: 0 }); return rows.get(key); };
  const add = (o, r) => { const b = { object: o, names: [o], size: O.size[o] || 1 }; r.blocks.push(b); r.total += b.size; return b; };
  for (const o of [...lists[HANDLE], ...lists[MULTICAST]]) {
    const memory = O.memory[o] < 0 ? o : O.memory[o], team = O.kind[o] === MULTICAST;
    if (byMemory.has(memory)) byMemory.get(memory).names.push(o);
    else byMemory.set(memory, add(o, team ? row('team', 'multicast') : row('p' + O.place[o], place(O.place[o]))));
  }
  for (const o of lists[ALLOCATION]) byMemory.set(o, add(o, row('p' + O.place[o], place(O.place[o]))));
  return { rows: [...rows.entries()].sort((a, b) => a[0] < b[0] ? -1 : 1).map(e => e[1]), byMemory };
}

let boxes = []; /* what can be pointed at: {x, y, w, h, object} */
const GUTTER = 46, TOP = 8, NAME = 17, BAR = 34, RIGHT = 15, LINKS = 76, BLOCK = 30, GAP = 16;

function box(g, x, y, w, h, options) {
  const { fill, edge = paint.edge, dashed, label, sub, mark, object, ink = paint.ink } = options;
  const left = Math.max(x, GUTTER), right = Math.min(x + w, options.limit);
  if (right < GUTTER || left > options.limit) return;
  const visible = Math.max(1, right - left);
  g.fillStyle = fill;
  g.fillRect(left, y, visible, h);
  if (w > NARROW) {
    g.strokeStyle = edge;
    g.lineWidth = dashed ? 2 : 1;
    g.setLineDash(dashed ? [5, 3] : []);
    g.strokeRect(left + .5, y + .5, Math.max(0, visible - 1), h - 1);
    g.setLineDash([]);
  }
  for (const [what, at, weight] of [[label, sub ? y + h / 2 - 7 : y + h / 2, '600 '], [sub, y + h / 2 + 7, '']]) {
    if (!what) continue;
    g.font = weight + '11.5px system-ui, sans-serif';
    if (g.measureText(what).width > visible - 5) continue;
    g.fillStyle = ink;
    g.textAlign = 'center';
    g.textBaseline = 'middle';
    g.fillText(what, left + visible / 2, at + .5);
  }
  if (mark) {
    g.strokeStyle = mark === 'error' ? paint.error : paint.accent;
    g.lineWidth = mark === 'error' ? 4 : 3;
    g.strokeRect(left + 1, y + 1, Math.max(2, visible - 2), h - 2);
    if (mark === 'error' && visible > 8) { g.lineWidth = 1; g.strokeStyle = paint.card; g.strokeRect(left + 1, y + 1, visible - 2, h - 2); }
  }
  boxes.push({ x: left, y, w: visible, h, object });
}

const markOf = o => (saidOf.get(now) || {}).object === o ? 'error' : selected === o || born[o] === now ? 'fresh' : null;

function draw() {
  const { rows, byMemory } = blocks(), lands = islands();
  const canvas = $('canvas'), placesHeight = Math.max(1, rows.length) * (BLOCK + GAP + 4);
  const rightsY = TOP + NAME + BAR + 2, linksY = rightsY + shownGrantees.length * RIGHT, memoryY = linksY + LINKS;
  const { g, width } = prepare(canvas, memoryY + placesHeight + 2);
  const room = Math.max(60, width - GUTTER - 6), limit = width - 4;
  boxes = [];
  shift = Math.max(0, Math.min(shift, room * (zoom - 1)));
  g.clearRect(0, 0, width, memoryY + placesHeight);
  lay(lands, room * zoom, Math.min(14, room * zoom * .3 / Math.max(1, lands.length)));
  const addresses = addressScale(lands);
  if (!lands.length && !rows.length) {
    g.fillStyle = paint.soft; g.font = '13px system-ui, sans-serif'; g.textAlign = 'left'; g.textBaseline = 'middle';
    g.fillText('no addresses are reserved and no memory is made yet', GUTTER, TOP + NAME + BAR / 2);
  }
  drawGaps(g, lands, limit);
  const small = drawRanges(g, addresses, limit, rightsY);
  const spots = drawBlocks(g, rows, room, limit, memoryY);
  drawLinks(g, addresses, spots, byMemory, linksY, memoryY, limit);
  drawGutter(g, rows, rightsY, memoryY);
  $('too-small').textContent = small ? `${count(small, 'mapping')} too narrow to be told apart here: zoom in, or see the list.` : '';
  $('zoom-out').disabled = $('zoom-all').disabled = zoom <= 1;
}

/* From an address to its place in the picture. */
function addressScale(lands) {
  return (address, from) => {
    let low = from || 0, high = lands.length;
    while (low + 1 < high) { const middle = (low + high) >> 1; if (lands[middle].start <= address) low = middle; else high = middle; }
    const land = lands[low];
    return GUTTER - shift + land.x + (address - land.start) / land.size * land.w;
  };
}

function drawGaps(g, lands, limit) {
  g.fillStyle = paint.soft;
  for (let i = 1; i < lands.length; i++) {
    const x = GUTTER - shift + (lands[i - 1].x + lands[i - 1].w + lands[i].x) / 2;
    if (x < GUTTER || x > limit || lands[i].x - lands[i - 1].x - lands[i - 1].w < 6) continue;
    for (const dot of [-3, 0, 3]) g.fillRect(x + dot - .75, TOP + NAME + BAR / 2 - .75, 1.5, 1.5);
  }
}

/* Reservations, memory of cuMemAlloc and mappings with their rights. Returns how many mappings were too narrow. */
function drawRanges(g, addresses, limit, rightsY) {
  let small = 0, lastRight = -1;
  /* The end of a range belongs to the stretch that its start lies in. */
  const span = o => { const x = addresses(O.start[o]); return [x, addresses(O.start[o] + O.size[o] - 1) - x + 1]; };
  for (const o of lists[RESERVATION]) {
    const [x, w] = span(o);
    box(g, x, TOP + NAME, w, BAR, { fill: paint.faint, object: o, limit, mark: markOf(o) });
    const label = `${name(o)}  ${size(O.size[o])}`, left = Math.max(x, GUTTER), visible = Math.min(x + w, limit) - left;
    g.font = '600 11.5px system-ui, sans-serif';
    const short = g.measureText(label).width <= visible ? label : g.measureText(name(o)).width <= visible ? name(o) : '';
    g.fillStyle = paint.ink; g.textAlign = 'left'; g.textBaseline = 'alphabetic';
    if (short && visible > 0) g.fillText(short, left + 1, TOP + NAME - 4);
  }
  for (const o of lists[ALLOCATION]) {
    const [x, w] = span(o);
    box(g, x, TOP + NAME, w, BAR, { fill: placeColour(O.place[o]), label: name(o), sub: 'alloc', object: o, limit, mark: markOf(o) });
  }
  for (const o of lists[MAPPING]) {
    const [x, w] = span(o);
    if (w < NARROW) small++;
    if (x + w < lastRight + .7 && w < NARROW && o !== selected && born[o] !== now) continue; /* that column is drawn */
    lastRight = Math.max(lastRight, x + w);
    const fill = O.handle[o] >= 0 && O.kind[O.handle[o]] === MULTICAST ? paint.team : placeColour(O.place[o]);
    box(g, x, TOP + NAME + 3, w, BAR - 6, { fill, label: name(o), sub: O.handle[o] >= 0 ? name(O.handle[o]) : undefined, object: o, limit, mark: markOf(o) });
    drawRights(g, o, x, w, rightsY, limit);
  }
  return small;
}

/* Height tells as much as colour: rw is full, r- half, -- an outline. */
function drawRights(g, o, x, w, y, limit) {
  const rights = changed(o, now).rights, left = Math.max(x, GUTTER), visible = Math.min(x + w, limit) - left;
  if (visible <= 0) return;
  shownGrantees.forEach((p, i) => {
    const value = rights.get(p) || 0, top = y + i * RIGHT + 1, h = RIGHT - 3;
    g.fillStyle = value === 3 ? paint.rw : paint.r;
    if (value === 3) g.fillRect(left + .5, top, Math.max(1, visible - 1), h);
    else if (value === 1) g.fillRect(left + .5, top + h * .55, Math.max(1, visible - 1), h * .45);
    if (visible > NARROW) {
      g.strokeStyle = value === 3 ? paint.rw : value === 1 ? paint.r : paint.line;
      g.lineWidth = 1;
      g.setLineDash(value ? [] : [2, 2]);
      g.strokeRect(left + 1, top + .5, visible - 2, h - 1);
      g.setLineDash([]);
    }
    if (visible < 18) return;
    g.font = '600 10.5px ui-monospace, "DejaVu Sans Mono", monospace';
    g.textAlign = 'center'; g.textBaseline = 'middle';
    g.fillStyle = value === 3 ? paint.card : paint.ink;
    g.fillText(rightsText(value), left + visible / 2, top + h / 2 + .5);
  });
}

/* Physical memory, a row for each place. Returns where each block lies. */
function drawBlocks(g, rows, room, limit, y) {
  const spots = new Map(), most = rows.reduce((a, r) => Math.max(a, r.total), 1);
  for (const row of rows) {
    row.y = y;
    lay(row.blocks, room * zoom * Math.max(.2, row.total / most), Math.min(3, room * zoom * .2 / Math.max(1, row.blocks.length)));
    for (const b of row.blocks) {
      const x = GUTTER - shift + b.x, o = b.object, alloc = O.kind[o] === ALLOCATION;
      const fill = O.kind[o] === MULTICAST ? paint.team : placeColour(O.place[o]);
      const released = !alloc && b.names.every(h => O.released[h] >= 0 && O.released[h] <= now && !changed(h, now).references);
      const mark = b.names.map(markOf).find(Boolean);
      box(g, x, y, b.w, BLOCK, { fill, dashed: released, label: b.names.map(name).join(' '), sub: O.size[o] ? size(O.size[o]) : '?', object: o, limit, mark });
      spots.set(o, { x, w: b.w, y, size: b.size });
    }
    y += BLOCK + GAP + 4;
  }
  return spots;
}

/* A line from each mapping to its piece of memory, and from binds to theirs. Of very many only some, evenly chosen. */
function drawLinks(g, addresses, spots, byMemory, y, memoryY, limit) {
  const every = Math.ceil(lists[MAPPING].length / 600);
  const inView = x => x >= GUTTER && x <= limit;
  const line = (x1, y1, x2, y2, strong, dashed) => {
    if (!inView(x1) && !inView(x2)) return;
    g.strokeStyle = strong ? paint.accent : paint.edge;
    g.lineWidth = strong ? 2.5 : 1;
    g.globalAlpha = strong ? 1 : every > 1 ? .25 : .65;
    g.setLineDash(dashed ? [4, 4] : []);
    g.beginPath();
    g.moveTo(x1, y1);
    g.bezierCurveTo(x1, y1 + (y2 - y1) * .55, x2, y2 - (y2 - y1) * .55, x2, y2);
    g.stroke();
    g.setLineDash([]);
    g.globalAlpha = 1;
  };
  g.save();
  g.beginPath();
  g.rect(GUTTER - 1, 0, limit - GUTTER + 2, 4000);
  g.clip();
  const spotOf = h => { const b = h >= 0 && byMemory.get(O.memory[h] < 0 ? h : O.memory[h]); return b && spots.get(b.object); };
  lists[MAPPING].forEach((o, i) => {
    const strong = o === selected || O.handle[o] === selected || born[o] === now;
    if (i % every && !strong) return;
    const spot = spotOf(O.handle[o]);
    if (!spot) return;
    const x = addresses(O.start[o]), w = addresses(O.start[o] + O.size[o] - 1) - x;
    const part = Math.min(1, (O.offset[o] + O.size[o] / 2) / spot.size);
    line(x + w / 2, y, spot.x + spot.w * part, spot.y, strong);
  });
  for (const o of lists[BIND]) {
    const team = spotOf(O.handle[o]), memory = spotOf(O.memory[o]);
    if (team && memory) line(team.x + team.w / 2, team.y < memory.y ? team.y + BLOCK : team.y, memory.x + memory.w / 2, team.y < memory.y ? memory.y : memory.y + BLOCK, o === selected || born[o] === now, true);
  }
  g.restore();
}

function drawGutter(g, rows, rightsY, memoryY) {
  g.fillStyle = paint.card;
  g.fillRect(0, 0, GUTTER - 1, 4000);
  g.fillStyle = paint.soft;
  g.textAlign = 'left'; g.textBaseline = 'middle';
  g.font = '11px system-ui, sans-serif';
  shownGrantees.forEach((p, i) => g.fillText(place(p), 0, rightsY + i * RIGHT + RIGHT / 2));
  for (const row of rows) {
    g.font = '600 11.5px system-ui, sans-serif';
    g.fillText(row.title.slice(0, 7), 0, row.y + 9);
    g.font = '10.5px system-ui, sans-serif';
    g.fillText(size(row.total).replace(' ', ''), 0, row.y + 22);
  }
}

/* ---- pointing ---- */

function boxAt(event) {
  const frame = $('canvas').getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
  for (let i = boxes.length - 1; i >= 0; i--) {
    const b = boxes[i];
    if (x >= b.x - 1 && x <= b.x + b.w + 1 && y >= b.y && y <= b.y + b.h) return { ...b, px: x, py: y };
  }
  return null;
}

function showTip(event) {
  const b = boxAt(event), tip = $('tip');
  tip.hidden = !b;
  $('canvas').style.cursor = b ? 'pointer' : '';
  if (!b) return;
  tip.textContent = objectPhrase(b.object);
  const width = $('canvas').clientWidth;
  tip.style.left = Math.max(0, Math.min(b.px + 12, width - 310)) + 'px';
  tip.style.top = b.py + 16 + 'px';
}

function setZoom(value, at) {
  const before = zoom, centre = at === undefined ? ($('canvas').clientWidth - GUTTER) / 2 : at - GUTTER;
  zoom = Math.max(1, Math.min(4096, value));
  shift = (shift + centre) * zoom / before - centre;
  draw();
}

/* ---- playing ---- */

function play(on) {
  cancelAnimationFrame(playing);
  playing = 0;
  if (on) {
    if (now === N - 1) go(0, true);
    let last = performance.now(), due = 0;
    const frame = time => {
      due += (time - last) / 1000 * Number($('speed').value);
      last = time;
      const steps = Math.floor(due);
      due -= steps;
      if (steps) go(now + steps, true);
      if (now < N - 1) playing = requestAnimationFrame(frame);
      else play(false);
    };
    playing = requestAnimationFrame(frame);
  } else {
    go(now);
  }
  $('play').textContent = playing ? '\u275a\u275a pause' : '\u25b6\ufe0e play';
  $('play').setAttribute('aria-label', playing ? 'Pause' : 'Play');
}

/* ---- keys and the rest ---- */

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches('input[type=search], select'), far = Math.max(10, Math.round(N / 20));
  if (event.key === 'Escape') {
    if (!$('found').hidden) { $('found').hidden = true; return; }
    if (selected >= 0) select(-1);
    return;
  }
  if (typing) return;
  const steps = { ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1, ArrowUp: now + 1, Home: 0, End: N - 1, PageUp: now - far, PageDown: now + far };
  const vertical = /^Arrow(Up|Down)$|^Page|^Home$|^End$/.test(event.key), slider = event.target === $('slider');
  if (event.key in steps && !(vertical && !slider && event.key.startsWith('Arrow'))) { play_off(); go(steps[event.key]); }
  else if (event.key === ' ' && !event.target.closest('button, summary, a')) play(!playing);
  else if (event.key === '/') $('query').focus();
  else if (event.key === 'n') goProblem(problemAfter(now));
  else if (event.key === 'p') goProblem(problemBefore(now));
  else if (event.key === '+' || event.key === '=') setZoom(zoom * 2);
  else if (event.key === '-') setZoom(zoom / 2);
  else if (event.key === '0') setZoom(1);
  else return;
  event.preventDefault();
}
const play_off = () => { if (playing) play(false); };
function goProblem(at) {
  if (at < 0 || at >= D.said.length) return;
  play_off();
  go(D.said[at].call);
}

function dragStrip(event) {
  if (event.type === 'pointermove' && !event.buttons) return;
  const frame = $('strip').getBoundingClientRect();
  play_off();
  go(Math.round((event.clientX - frame.left) / frame.width * (N - 1)));
}

/* Two fingers or a wheel with shift move sideways; a drag on the picture does, too. */
function dragPicture(event) {
  if (event.buttons && zoom > 1 && event.movementX) { shift -= event.movementX; draw(); }
  else showTip(event);
}

function redraw() {
  readColours();
  stripPicture = null;
  if (N) { drawStrip(); draw(); }
}

function start() {
  const title = text(D.trace), backend = { sim: 'the simulator', cuda: 'a CUDA driver' }[D.backend] || D.backend || 'an unknown backend';
  document.title = title + ' - cuvmm view';
  $('trace').textContent = title;
  $('about').textContent = `${count(N, 'call')} and ${count(M, 'object')}, recorded on ${backend}` + (D.complete || D.complaint ? '' : '; the recording was cut off: the program ended before its last call was written');
  $('complaint').hidden = !D.complaint;
  $('complaint').textContent = D.complaint ? `The trace cannot be read further than this: ${text(D.complaint)}` : '';
  readColours();
  showProblems();
  $('slider').max = Math.max(1, N);
  $('slider').addEventListener('input', () => { play_off(); go(Number($('slider').value) - 1); });
  for (const [id, action] of Object.entries({
    first: () => go(0), last: () => go(N - 1), back: () => go(now - 1), forward: () => go(now + 1), play: () => play(!playing),
    'previous-problem': () => goProblem(problemBefore(now)), 'next-problem': () => goProblem(problemAfter(now)),
    'zoom-in': () => setZoom(zoom * 2), 'zoom-out': () => setZoom(zoom / 2), 'zoom-all': () => setZoom(1), unselect: () => select(-1)
  })) $(id).addEventListener('click', () => { if (id !== 'play' && !id.startsWith('zoom')) play_off(); action(); });
  document.addEventListener('keydown', key);
  for (const type of ['pointerdown', 'pointermove']) $('strip').addEventListener(type, dragStrip);
  $('canvas').addEventListener('pointermove', dragPicture);
  $('canvas').addEventListener('pointerleave', () => { $('tip').hidden = true; });
  $('canvas').addEventListener('click', event => { const b = boxAt(event); select(b ? b.object : -1, false); });
  $('canvas').addEventListener('wheel', event => {
    if (event.ctrlKey) { event.preventDefault(); setZoom(zoom * (event.deltaY < 0 ? 1.25 : .8), event.offsetX); }
    else if (event.shiftKey && zoom > 1) { event.preventDefault(); shift += event.deltaY || event.deltaX; draw(); }
  }, { passive: false });
  $('query').addEventListener('input', showFound);
  $('query').addEventListener('focus', () => { if ($('query').value) showFound(); });
  $('search').addEventListener('submit', event => { event.preventDefault(); showFound(); const first = $('found-list').querySelector('button'); if (first) first.click(); });
  document.addEventListener('click', event => { if (!$('search').contains(event.target)) $('found').hidden = true; });
  window.addEventListener('resize', redraw);
  window.addEventListener('hashchange', () => { const call = parseInt(location.hash.slice(1), 10); if (call && call - 1 !== now) go(call - 1); });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  if (N) go((parseInt(location.hash.slice(1), 10) || 1) - 1, true);
  else $('position').textContent = 'the trace holds no calls';
}
start();
})();
