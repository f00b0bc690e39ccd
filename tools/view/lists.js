/* SPDX-License-Identifier: Apache-2.0 */

/* The page in words: the call and why it was refused, lists of calls, what exists, one object, search. */

/* ---- small helpers of the document ---- */

const note = words => make('li', { class: 'soft', text: words });
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
/* Name and meaning of a result. */
const resultOf = code => RESULTS.get(code) || ['unrecognized error code', `number ${code}`];
const resultName = call => resultOf(C.result[call])[0];
/* A trace writes the bytes of a text one by one. */
const text = bytes => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes, c => c.charCodeAt(0)));
  } catch {
    return bytes;
  }
};

/* ---- the call and why it was refused ---- */

function objectPhrase(o) {
  const kind = D.kinds[O.kind[o]], parts = [kind + ' ' + name(o)];
  if (O.kind[o] === RESERVATION || O.kind[o] === MAPPING || O.kind[o] === ALLOCATION)
    parts.push(`[${hex(O.start[o])}, ${hex(O.start[o] + O.size[o])})`);
  if (O.size[o]) parts.push(size(O.size[o]));
  if (O.kind[o] === MAPPING && O.handle[o] >= 0) parts.push('of ' + name(O.handle[o]));
  parts.push(`made by call ${born[o] + 1} (${D.names[O.by[o]]})`);
  if (died[o] !== NEVER) parts.push(`ended by call ${died[o] + 1} (${D.names[O.ended[o]]})`);
  return parts.join(', ');
}

const wordFor = s => s.severity === 2 ? 'refused' : s.rule && ruleOf(s.rule) && ruleOf(s.rule).hazard ? 'hazard' : 'warning';

function explanation(s) {
  const rule = s.rule && ruleOf(s.rule), list = make('dl'), sources = make('dl');
  const box = make('div', { class: 'why' + (s.severity === 1 ? ' warn' : '') });
  const add = (title, value, to) => { if (value) (to || list).append(make('dt', { text: title }), make('dd', {}, value)); };
  const [first, ...rest] = wordFor(s);
  box.append(make('p', { text: first.toUpperCase() + rest.join('') + (s.rule ? ': ' + s.rule : '') }));
  if (rule) add('What', rule.what);
  if (s.argument) add('Argument', `${s.argument} = ${s.value}` + (s.expected ? `, compared with ${s.expected}` : ''));
  if (s.object !== undefined && born[s.object] !== undefined)
    add('Nearest', make('span', {}, objectButton(s.object), ' ' + objectPhrase(s.object)));
  else if (s.nearest) add('Nearest', s.nearest[0] === 'D' ? 'device ' + s.nearest.slice(1) : s.nearest);
  if (s.note) add('Here', text(s.note));
  if (rule) {
    add('Why', rule.why);
    add('Fix', rule.fix);
    add('Documents', rule.documents, sources);
    add('Observed', rule.observed, sources);
  } else if (s.rule) {
    add('Why', 'This cuvmm does not know the rule; a newer one wrote the trace.');
  } else {
    add('Why', 'The trace holds the result alone, as a driver gives it. ' +
      'Recorded with CUVMM_LAYERS="trace=FILE|shadow" it would name the rule.');
    if (s.could.length) add('May be', make('ul', {}, ...s.could.map(id => make('li', { text: `${id}: ${ruleOf(id).what}` }))));
  }
  box.append(list);
  if (sources.children.length)
    box.append(make('details', {}, make('summary', { text: 'What the documents say, what was measured' }), sources));
  return box;
}

/* What the call made, ended and changed, in words. */
function effectOf(call) {
  const made = [], gone = [], other = [];
  const changes = o => {
    const [from, to] = changesOf.get(o) || [0, 0];
    for (let c = from; c < to; c++) if (W.changes.call[c] === call) return true;
    return false;
  };
  for (let i = touchFirst[call]; i < touchFirst[call + 1]; i++) {
    const o = W.touched[i];
    if (born[o] === call) made.push(o);
    else if (died[o] === call) gone.push(o);
    else if (changes(o)) other.push(o);
  }
  const some = (title, list) => list.length ? title + list.slice(0, 12).map(name).join(', ') +
    (list.length > 12 ? ` and ${list.length - 12} more` : '') : '';
  return [some('Made: ', made), some('Gone: ', gone), some('Changed: ', other)].filter(Boolean).join('. ');
}

function showCall() {
  const s = saidOf.get(now), code = C.result[now], [result, meaning] = resultOf(code), bad = s && s.severity === 2;
  const [kind, sign] = bad ? ['error', '\u2715 '] : s ? ['warn', '\u26a0 '] : code ? ['', ''] : ['good', '\u2713 '];
  $('call-title').textContent = `Call ${now + 1}` + (C.n[now] !== now + 1 ? ` (ordinal ${C.n[now]})` : '') +
    (W.calls.thread.some(t => t !== 1) ? `, thread ${C.thread[now]}` : '');
  $('words').textContent = C.words[now];
  $('result').replaceChildren(make('span', { class: 'badge ' + kind, text: sign + result }), code ? ' ' + meaning : '',
    C.answers[now] ? make('code', { text: '  ' + text(C.answers[now]) }) : '');
  $('effect').textContent = effectOf(now) || (bad ? 'Nothing changed.' : 'Nothing was made or ended.');
  $('why').replaceChildren(...(s ? [explanation(s)] : []));
}

/* ---- lists of calls ---- */

function callItem(call, words = C.words[call], severity = (saidOf.get(call) || {}).severity) {
  const s = severity, refused = severity === 2;
  const mark = !s ? make('span', { class: 'mark' }) : make('span', {
    class: 'mark' + (refused ? '' : ' warn'), role: 'img', 'aria-label': refused ? 'refused' : 'warning',
    text: refused ? '\u2715' : '\u26a0'
  });
  return make('li', {}, make('button', { type: 'button', 'aria-current': call === now ? 'step' : undefined, on: () => go(call) },
    make('span', { class: 'n', text: call + 1 }), mark, make('span', { text: words })));
}

function showAround() {
  const from = Math.max(first, Math.min(now - 8, end - 17)), items = [];
  for (let call = from; call < Math.min(end, from + 17); call++) items.push(callItem(call));
  const focused = $('around-list').contains(document.activeElement);
  $('around-list').replaceChildren(...items);
  if (focused) $('around-list').querySelector('[aria-current]').focus();
}

function showProblems() {
  const all = D.said.all, errors = D.said.severity.filter(severity => severity === 2).length;
  if (all) $('problems-title').textContent = `Problems: ${errors} refused, ${D.said.call.length - errors} warned of`;
  $('problems-none').hidden = all > 0;
  for (const s of D.problems) {
    const rule = s.rule && ruleOf(s.rule);
    const item = make('details', { 'data-call': s.call }, make('summary', {},
      make('b', { class: s.severity === 1 ? 'warn' : '', text: `${s.severity === 2 ? '\u2715' : '\u26a0'} ${wordFor(s)} ` }),
      `call ${s.call + 1}: ${D.names[s.name]}, ${rule ? rule.what : resultOf(s.result)[1]}`));
    item.addEventListener('toggle', () => {
      if (!item.open) return;
      go(s.call, false, () => { if (item.children.length === 1) item.append(explanation(s)); });
    });
    $('problem-list').append(item);
  }
  if (all > D.problems.length)
    $('problem-list').append(make('p', { class: 'soft', text: `and ${all - D.problems.length} more; n and p reach all of them` }));
}

/* ---- what exists, as a list ---- */

function mappingItem(o) {
  const seen = changed(o, now).rights, parts = [objectButton(o), ` ${hex(O.start[o])}, ${size(O.size[o])}, memory `];
  parts.push(O.handle[o] >= 0 ? objectButton(O.handle[o]) : 'from before the trace');
  parts.push(O.offset[o] ? ` from ${size(O.offset[o])} ` : ' ');
  for (const p of grantees) parts.push(make('span', { class: 'rights', text: `${place(p)} ${rightsText(seen.get(p) || 0)}` }));
  if (!grantees.length) parts.push(make('span', { class: 'rights', text: 'no rights yet' }));
  return make('li', {}, ...parts);
}

function handleItem(o) {
  const seen = changed(o, now), item = make('li', {}, objectButton(o));
  if (O.kind[o] === MULTICAST)
    item.append(` ${size(O.size[o])} on a team of ${O.team[o]}: ${seen.devices.join(', ') || 'none yet'}`);
  else item.append(` ${O.size[o] ? size(O.size[o]) : 'size unknown'} on ${place(O.place[o])}`);
  item.append(`, ${count(seen.references, 'reference')}, ${count(mappingsOf.get(o) || 0, 'mapping')}`);
  if (!seen.references) item.append(make('span', { class: 'soft', text: ' (released)' }));
  if (O.memory[o] >= 0 && O.memory[o] !== o) item.append(', the memory of ', objectButton(O.memory[o]));
  return item;
}

let mappingsOf = new Map(); /* how many live ones a handle has */

const named = o => o >= 0 ? name(o) : 'what was there before the trace';
const allocationItem = o => make('li', {}, objectButton(o), ` ${hex(O.start[o])}, ${size(O.size[o])} on ${place(O.place[o])}`);
const bindItem = o => make('li', {}, objectButton(o),
  ` ${size(O.size[o])} of ${named(O.memory[o])} in ${named(O.handle[o])} at ${size(O.start[o])}`);
const plainItem = o => make('li', {}, objectButton(o), O.kind[o] === CONTEXT ? ' on ' + place(O.place[o])
  : O.context[o] >= 0 ? ' of ' + name(O.context[o]) : O.handle[o] >= 0 ? ' of ' + name(O.handle[o]) : '');

function section(title, all, item) {
  if (!all.length) return [];
  const list = make('ul', {}, ...all.slice(0, LIST_MOST).map(item));
  if (all.length > LIST_MOST)
    list.append(note(`and ${number.format(all.length - LIST_MOST)} more; search finds them`));
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
    const within = groups.get(o) || [], shown = within.slice(0, Math.max(0, left)), more = within.length - shown.length;
    left -= shown.length;
    const list = within.length ? make('ul', {}, ...shown.map(mappingItem)) : null;
    if (more) list.append(note(`and ${count(more, 'mapping')} more`));
    return make('li', {}, objectButton(o),
      ` ${hex(O.start[o])}, ${size(O.size[o])} reserved, ${count(within.length, 'mapping')}`, list);
  };
  $('now-title').textContent = `What exists after call ${now + 1}`;
  $('now-count').textContent =
    lists.map((list, kind) => list.length && count(list.length, D.kinds[kind])).filter(Boolean).join(', ') || 'nothing';
  $('now-list').replaceChildren(
    ...section('Addresses', reservations, reservationItem), ...section('Mapped outside of a reservation', strays, mappingItem),
    ...section('Memory of cuMemAlloc', lists[ALLOCATION], allocationItem),
    ...section('Physical memory', lists[HANDLE], handleItem), ...section('Multicast objects', lists[MULTICAST], handleItem),
    ...section('Bound to multicast objects', lists[BIND], bindItem),
    ...section('Exported descriptors', lists[DESCRIPTOR], plainItem),
    ...section('Contexts, streams, events', [...lists[CONTEXT], ...lists[STREAM], ...lists[EVENT]], plainItem));
}

/* ---- one object ---- */

function select(o, jump) {
  if (o >= 0 && jump && (now < born[o] || now >= died[o])) return go(born[o], false, () => shown(o, true));
  shown(o, jump);
}
function shown(o, jump) {
  selected = o;
  $('object').hidden = o < 0;
  if (o >= 0) showObject();
  draw();
  if (o >= 0 && jump) $('object-title').focus({ preventScroll: false });
}

const hasAddress = o => [RESERVATION, MAPPING, ALLOCATION].includes(O.kind[o]);

/* [title, value] of what is known of an object. */
function factsOf(o) {
  const facts = [], seen = changed(o, now), kind = O.kind[o], isMemory = kind === HANDLE || kind === MULTICAST;
  const by = (call, name) => make('span', {},
    make('button', { type: 'button', class: 'name', text: `call ${call + 1}`, on: () => go(call) }), ' ' + (C.words[call] || name));
  const rights = () => grantees.map(p => `${place(p)} ${rightsText(seen.rights.get(p) || 0)}`).join(', ') || 'none';
  const add = (when, title, value) => { if (when) facts.push([title, value()]); };
  add(true, 'Made by', () => by(born[o], D.names[O.by[o]]));
  add(O.released[o] >= 0, 'Last reference', () => by(O.released[o], 'cuMemRelease'));
  add(true, 'Ended by', () => died[o] === NEVER ? 'nothing in this trace' : by(died[o], D.names[O.ended[o]]));
  add(hasAddress(o), 'Addresses', () => `[${hex(O.start[o])}, ${hex(O.start[o] + O.size[o])})`);
  add(O.size[o], 'Size', () => `${size(O.size[o])} (${number.format(O.size[o])} bytes)`);
  add([HANDLE, ALLOCATION, CONTEXT].includes(kind), 'Place', () => place(O.place[o]));
  add(O.handle[o] >= 0, kind === BIND ? 'Multicast object' : 'Memory', () => objectButton(O.handle[o]));
  add(kind === BIND && O.memory[o] >= 0, 'Memory', () => objectButton(O.memory[o]));
  const lives = now >= born[o] && now < died[o];
  add(kind === MAPPING && lives, 'Rights now', rights);
  add(isMemory && lives, 'References now', () => String(seen.references));
  add(O.exportable[o], 'Sharing', () => 'made to be exported, or imported');
  return facts;
}

/* The calls that name, make, change or end an object: a hundred around the moment, and how many there are. */
const OBJECT_CALLS = 100;
function callsHere(o) {
  const calls = [];
  for (let call = first; call < end; call++)
    for (let i = touchFirst[call]; i < touchFirst[call + 1]; i++)
      if (W.touched[i] === o) {
        calls.push(call);
        break;
      }
  const near = calls.findIndex(call => call >= now);
  const from = Math.max(0, Math.min((near < 0 ? calls.length : near) - OBJECT_CALLS / 2, calls.length - OBJECT_CALLS));
  const shown = calls.slice(from, from + OBJECT_CALLS);
  return { all: calls.length, call: shown, words: shown.map(call => C.words[call]), severity: shown.map(call => (saidOf.get(call) || {}).severity) };
}

function showCallsOf(o, found) {
  if (o !== selected) return;
  $('object-calls').replaceChildren(...found.call.map((call, i) => callItem(call, found.words[i], found.severity[i])));
  if (found.all > found.call.length)
    $('object-calls').append(note(`${number.format(found.all)} in all; those around call ${number.format(now + 1)} are shown`));
}

function showObject() {
  const o = selected;
  const when = born[o] === undefined || now < born[o] ? ' (not made yet)' : now >= died[o] ? ' (gone)' : '';
  if (born[o] === undefined) return;
  $('object-title').textContent = `${name(o)}, ${D.kinds[O.kind[o]]}${when}`;
  const facts = factsOf(o).flatMap(([title, value]) => [make('dt', { text: title }), make('dd', {}, value)]);
  $('object-facts').replaceChildren(...facts);
  if (LIVE) ask('object', { object: o, near: now }).then(found => showCallsOf(o, found)).catch(() => {});
  else showCallsOf(o, callsHere(o));
  $('object').hidden = false;
}

/* ---- search ---- */

/* {object} and {call, words}, and of how many calls the words were looked through. */
function searchHere(query) {
  const q = query.trim().toLowerCase(), found = [], most = 40;
  const address = /^0x[0-9a-f]+$/.test(q) ? Number(q) : -1, exact = /^[rmhbacsed]\d+$/.test(q);
  const fits = o => exact ? name(o).toLowerCase() === q
    : address < 0 ? D.kinds[O.kind[o]].startsWith(q)
    : hasAddress(o) && O.start[o] <= address && address < O.start[o] + O.size[o];
  for (const o of W.objects.id) if (found.length < most && fits(o)) found.push({ object: o });
  for (const s of W.said) {
    if (found.length >= most) break;
    if (s.rule && s.rule.toLowerCase().includes(q)) found.push({ call: s.call, words: C.words[s.call] });
  }
  for (let call = first; call < end && found.length < 2 * most; call++)
    if (C.words[call].toLowerCase().includes(q)) found.push({ call, words: C.words[call] });
  return { found, looked: N };
}

async function searchThere(query) {
  const answer = await ask('search', { q: query.trim() });
  const known = new Set(ids), beside = answer.objects.id.map(o => !known.has(o));
  takeObjects(Object.fromEntries(Object.entries(answer.objects).map(([key, column]) => [key, column.filter((_, i) => beside[i])])));
  return answer;
}

function showFound() {
  const query = $('query').value;
  $('found').hidden = !query.trim();
  if (!query.trim()) return;
  if (LIVE) searchThere(query).then(answer => { if ($('query').value === query) listFound(answer); }).catch(() => {});
  else listFound(searchHere(query));
}

function listFound({ found, looked }) {
  const pick = f => {
    $('found').hidden = true;
    if (f.object !== undefined) return select(f.object, true);
    go(f.call);
    $('slider').focus();
  };
  $('found-count').textContent = (found.length ? (found.length >= 40 ? 'the first ' : '') + `${found.length} found`
    : 'nothing found; a name such as H1, an address, a call or a rule') +
    (looked < N ? `; words of the first ${number.format(looked)} calls were looked through` : '');
  $('found-list').replaceChildren(...found.map(f => make('li', {}, make('button', {
    type: 'button', on: () => pick(f),
    text: f.object !== undefined ? objectPhrase(f.object) : `call ${f.call + 1}: ${f.words}`
  }))));
}
