/* SPDX-License-Identifier: Apache-2.0 */

/* Several processes on one clock: their lanes, and who exported to whom. One of them is shown; another is a page loaded anew. */

const SHARES = ALL.links || [], SHARES_MOST = 200;
const [FROM, FROM_CALL, FROM_TIME, FROM_NAME, BYTES, TO, TO_CALL, TO_TIME, TO_NAME, GUESS] = Array(10).keys();

/* By call of the trace that is shown: the links that end in it. */
const linksOf = (() => {
  const found = new Map();
  const add = (call, link) => found.has(call) ? found.get(call).push(link) : found.set(call, [link]);
  for (const link of SHARES) {
    if (link[FROM] === HERE) add(link[FROM_CALL], link);
    if (link[TO] === HERE) add(link[TO_CALL], link);
  }
  return found;
})();

const base = path => path.slice(path.lastIndexOf('/') + 1);
const duration = us => us >= 1e6 ? (us / 1e6).toFixed(3) + ' s' : us >= 1e3 ? (us / 1e3).toFixed(3) + ' ms' : us + ' us';
const nameOf = name => name || 'an object from before the trace';

/* Another process, or another call of this one. */
function visit(trace, call) {
  if (trace === HERE) { pause(); go(call); }
  else location.hash = anchor(trace, call);
}
const endButton = (trace, call) => make('button', {
  type: 'button', class: 'name', text: `process ${TRACES[trace].process.number} call ${call + 1}`, on: () => visit(trace, call)
});

function linkItem(link) {
  return make('li', {}, endButton(link[FROM], link[FROM_CALL]),
    ` exported ${nameOf(link[FROM_NAME])}${link[BYTES] ? ', ' + size(link[BYTES]) + ',' : ''} to `, endButton(link[TO], link[TO_CALL]),
    `, there ${nameOf(link[TO_NAME])}`,
    link[GUESS] ? make('span', { class: 'soft', text: ' (a guess, by size and order)' }) : '');
}

const shape = (tag, attributes) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  return e;
};

/* The time of all processes, in thousandths of the whole. */
const span = (() => {
  if (TRACES.length < 2) return null;
  const begin = Math.min(...TRACES.map(t => t.process.clock));
  const ends = TRACES.map(t => t.process.clock + t.end);
  return { begin, length: Math.max(1, Math.max(...ends) - begin), ends };
})();
const across = time => (time - span.begin) / span.length * 1000;

function drawLanes() {
  const row = 28, lanes = $('lanes');
  lanes.setAttribute('viewBox', `0 0 1000 ${row * TRACES.length}`);
  lanes.style.height = `${1.75 * TRACES.length}rem`;
  const parts = TRACES.map((t, i) => shape('rect', {
    class: i === HERE ? 'lane here' : 'lane', x: across(t.process.clock), y: i * row + 8,
    width: Math.max(2, across(span.ends[i]) - across(t.process.clock)), height: 12
  }));
  for (const link of SHARES.slice(0, 2000))
    parts.push(shape('line', {
      class: link[GUESS] ? 'link guess' : 'link', x1: across(link[FROM_TIME]), y1: link[FROM] * row + 14,
      x2: across(link[TO_TIME]), y2: link[TO] * row + 14
    }));
  if (holds(now)) {
    const x = across(D.process.clock + C.time[now]);
    parts.push(shape('line', { class: 'at', x1: x, y1: HERE * row + 2, x2: x, y2: HERE * row + 26 }));
  }
  lanes.replaceChildren(...parts);
}

function showFamily() {
  if (TRACES.length < 2) return;
  $('family').hidden = false;
  $('family-title').textContent = `${TRACES.length} processes, ${duration(span.length)}`;
  $('processes').replaceChildren(...TRACES.map((t, i) => make('li', {}, make('button', {
    type: 'button', 'aria-current': i === HERE ? 'true' : undefined, title: text(t.process.program),
    text: `${t.process.number} ${base(text(t.process.program))}`, on: () => visit(i, 0)
  }))));
  const p = D.process;
  $('process').textContent = `Process ${p.number}: ${text(p.program)}, started ${p.started} on ${text(p.host)}` +
    (p.fork_of ? `, a fork of ${p.fork_of} whose objects it has not` : `, child of ${p.parent}`);
  $('links-title').textContent = `Who exported to whom: ${count(SHARES.length, 'import')}` +
    (ALL.unmatched ? `, and ${ALL.unmatched} of which no trace has the export` : '');
  $('link-list').replaceChildren(...SHARES.slice(0, SHARES_MOST).map(linkItem));
  if (SHARES.length > SHARES_MOST) $('link-list').append(note(`and ${SHARES.length - SHARES_MOST} more; their calls have them`));
}

/* When and where the call was made, and what it passed to others. */
function showMoment() {
  if (!D.process) return;
  const passed = linksOf.get(now) || [], frames = C.place[now] >= 0 ? text(W.stacks[C.place[now]]) : '';
  $('moment').hidden = false;
  $('moment').textContent = `${duration(C.time[now])} after the trace began`;
  $('passed').hidden = !passed.length;
  $('passed').replaceChildren(...passed.map(linkItem));
  $('frames').hidden = !frames;
  $('frames').textContent = frames && 'called from\n' + frames;
  if (TRACES.length > 1) drawLanes();
}
