/* SPDX-License-Identifier: Apache-2.0 */

/* The moment that is shown, and what moves it: buttons, keys, playing. */

/* ---- state of the page ---- */

let now = 0, lists = D.kinds.map(() => []), playing = 0, zoom = 1, shift = 0;

/* Shows a call, and does what else is to be done then; it may have to be asked for first. */
function go(call, quiet, then) {
  if (!N) return;
  call = Math.max(lowest, Math.min(highest, call));
  if (!holds(call)) {
    reach(call, () => go(call, quiet, then)).catch(() => {});
    return;
  }
  now = call;
  if (LIVE) lookAhead(now);
  lists = alive(now);
  $('slider').value = now + 1;
  $('slider').setAttribute('aria-valuetext', `call ${now + 1} of ${N}: ${C.words[now]}`);
  $('position').textContent = `call ${number.format(now + 1)} of ${number.format(N)}`;
  showCall();
  drawStrip();
  draw();
  showMoment();
  showNow();
  showAround();
  if (selected >= 0) showObject();
  const at = problemAfter(now);
  $('next-problem').disabled = at >= saidCalls.length;
  $('previous-problem').disabled = problemBefore(now) < 0;
  $('first').disabled = $('back').disabled = now === lowest;
  $('last').disabled = $('forward').disabled = now === highest;
  if (!quiet) {
    $('say').textContent = `Call ${now + 1}: ${C.words[now]}, ${resultName(now)}. ${$('effect').textContent}`;
    noteMoment();
  }
  if (then) then();
}

/* The moment in the address bar, when the page has come to rest: browsers refuse many changes a second. */
let resting = 0;
function noteMoment() {
  clearTimeout(resting);
  resting = setTimeout(() => history.replaceState(null, '', anchor(HERE, now)), 200);
}

/* Index into said of the first problem after the call, and of the last before it. */
function problemAfter(call) {
  let low = 0, high = saidCalls.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (saidCalls[middle] <= call) low = middle + 1;
    else high = middle;
  }
  return low;
}
function problemBefore(call) {
  const at = problemAfter(call) - 1;
  return at >= 0 && saidCalls[at] === call ? at - 1 : at;
}

/* ---- playing ---- */

function play(on) {
  cancelAnimationFrame(playing);
  playing = 0;
  if (on) {
    if (now === highest) go(lowest, true);
    let last = performance.now(), due = 0;
    const frame = time => {
      due += (time - last) / 1000 * Number($('speed').value);
      last = time;
      const steps = Math.floor(due);
      due -= steps;
      if (steps && awaited < 0) go(now + steps, true);
      if (now < highest) playing = requestAnimationFrame(frame);
      else play(false);
    };
    playing = requestAnimationFrame(frame);
  } else {
    go(now);
  }
  const [sign, word] = playing ? ['\u275a\u275a', ' pause'] : ['\u25b6\ufe0e', ' play'];
  $('play').replaceChildren(sign, make('span', { class: 'word', text: word }));
  $('play').setAttribute('aria-label', playing ? 'Pause' : 'Play');
}

/* ---- keys and the rest ---- */

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches('input[type=search], select'), far = Math.max(10, Math.round((highest - lowest + 1) / 20));
  if (event.key === 'Escape') {
    if (!$('found').hidden) { $('found').hidden = true; return; }
    if (selected >= 0) select(-1);
    return;
  }
  if (typing) return;
  const steps = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: lowest, End: highest, PageUp: now - far, PageDown: now + far };
  if (event.key in steps) { pause(); go(steps[event.key]); }
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
const pause = () => { if (playing) play(false); };
function goProblem(at) {
  if (at < 0 || at >= saidCalls.length) return;
  pause();
  go(saidCalls[at]);
}

function dragStrip(event) {
  if (event.type === 'pointermove' && !event.buttons) return;
  const frame = $('strip').getBoundingClientRect();
  pause();
  go(Math.round((event.clientX - frame.left) / frame.width * (N - 1)));
}

/* A wheel with shift moves sideways; a drag on the picture does, too, and is then no click. */
let dragged = 0;
function dragPicture(event) {
  if (event.buttons && zoom > 1 && event.movementX) {
    dragged += Math.abs(event.movementX);
    shift -= event.movementX;
    draw();
  } else showTip(event);
}

function redraw() {
  readColours();
  stripPicture = null;
  if (N) { drawStrip(); draw(); }
}

function start() {
  const part = highest - lowest + 1 < N ? `, calls ${number.format(lowest + 1)} to ${number.format(highest + 1)} are shown` : '';
  const title = TRACES.length > 1 ? `${text(D.trace)} and ${count(TRACES.length - 1, 'other')}` : text(D.trace);
  const backend = { sim: 'the simulator', cuda: 'a CUDA driver' }[D.backend] || D.backend || 'an unknown backend';
  document.title = title + ' - cuvmm view';
  $('trace').textContent = title;
  $('about').textContent = `${count(N, 'call')} and ${count(M, 'object')}${part}, recorded on ${backend}` +
    (D.complete || D.complaint ? '' : '; the trace has no last line: its recording was cut off');
  $('complaint').hidden = !D.complaint;
  $('complaint').textContent = D.complaint ? `The trace cannot be read further than this: ${text(D.complaint)}` : '';
  readColours();
  if (D.window) takeWindow(D.window);
  showProblems();
  $('slider').min = lowest + 1;
  $('slider').max = Math.max(1, highest + 1);
  $('slider').addEventListener('input', () => { pause(); go(Number($('slider').value) - 1); });
  for (const [id, action] of Object.entries({
    first: () => go(lowest), last: () => go(highest), back: () => go(now - 1), forward: () => go(now + 1),
    'previous-problem': () => goProblem(problemBefore(now)), 'next-problem': () => goProblem(problemAfter(now)),
    'zoom-in': () => setZoom(zoom * 2), 'zoom-out': () => setZoom(zoom / 2), 'zoom-all': () => setZoom(1),
    play: () => play(!playing), unselect: () => select(-1)
  })) $(id).addEventListener('click', () => { if (id !== 'play' && !id.startsWith('zoom')) pause(); action(); });
  document.addEventListener('keydown', key);
  for (const type of ['pointerdown', 'pointermove']) $('strip').addEventListener(type, dragStrip);
  $('canvas').addEventListener('pointerdown', () => { dragged = 0; });
  $('canvas').addEventListener('pointermove', dragPicture);
  $('canvas').addEventListener('pointerleave', () => { $('tip').hidden = true; });
  $('canvas').addEventListener('click', event => {
    const b = boxAt(event);
    if (dragged > 4) return;
    if (b && b.cluster) setZoom(zoom * 8, b.px);
    else select(b ? b.object : -1, false);
  });
  $('canvas').addEventListener('wheel', event => {
    if (event.ctrlKey) { event.preventDefault(); setZoom(zoom * (event.deltaY < 0 ? 1.25 : .8), event.offsetX); }
    else if (event.shiftKey && zoom > 1) { event.preventDefault(); shift += event.deltaY || event.deltaX; draw(); }
  }, { passive: false });
  $('query').addEventListener('input', showFound);
  $('query').addEventListener('focus', () => { if ($('query').value) showFound(); });
  $('search').addEventListener('submit', event => {
    event.preventDefault();
    showFound();
    const first = $('found-list').querySelector('button');
    if (first) first.click();
  });
  document.addEventListener('click', event => { if (!$('search').contains(event.target)) $('found').hidden = true; });
  window.addEventListener('resize', redraw);
  window.addEventListener('hashchange', () => {
    const { trace, call } = asked();
    if (trace !== HERE) location.reload();
    else if (call && call - 1 !== now) go(call - 1);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  showFamily();
  /* An address without a moment opens at the first problem: a page is mostly made because of one. */
  if (N) go(asked().call ? asked().call - 1 : saidCalls.find(call => call >= lowest && call <= highest) ?? lowest, true);
  else $('position').textContent = 'the trace holds no calls';
}
start();
