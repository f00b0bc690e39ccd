/* SPDX-License-Identifier: Apache-2.0 */

/* The session: lines go to the module, its results to the terminal, the picture and the explanation. */

const $ = id => document.getElementById(id);
function make(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {}))
    if (key === 'text') e.textContent = value;
    else if (key === 'on') e.addEventListener('click', value);
    else if (value !== undefined && value !== false) e.setAttribute(key, value);
  e.append(...children.filter(c => c !== undefined && c !== null));
  return e;
}

let api = null;      /* the module; a new one after a trap */
let compiled = null;
let state = { lines: 0, steps: 0, spec: 'sim:h100' };
let spec = '';       /* the spec with which the session was opened */
/* the session's lines, as in web_text(0); kept here so that the cost of a line does not grow with the session */
let session = [];
let mine = 0;        /* the number of lines that the user typed */
let zoom = 1;
const LOG_MOST = 1500, COLUMNS_LEAST = 44, COLUMNS_MOST = 100;
const narrow = matchMedia('(max-width: 760px)');

/* The width of the terminal in characters; constant during a session, so that a repeated line prints the same. */
function columns() {
  const probe = make('span', { text: '0'.repeat(50) });
  $('log').append(probe);
  const letter = probe.getBoundingClientRect().width / 50;
  probe.remove();
  const fit = letter ? Math.floor(($('log').clientWidth - 22) / letter) : COLUMNS_MOST;
  return Math.max(COLUMNS_LEAST, Math.min(COLUMNS_MOST, fit));
}

/* ---- the log ---- */

/* The colours of a terminal as classes. An arrow is never broken: after a line break its second half would look like
 * the start of a step. */
function coloured(text) {
  const parts = document.createDocumentFragment();
  let classes = '';
  for (const piece of text.split(/(\x1b\[[0-9;]*m|->)/)) {
    const code = /^\x1b\[([0-9;]*)m$/.exec(piece);
    if (code) classes = code[1] && code[1] !== '0' ? code[1].split(';').map(c => 'c' + c).join(' ') : '';
    else if (piece === '->') parts.append(make('span', { class: 'arrow', text: piece }));
    else if (piece && classes) parts.append(make('span', { class: classes, text: piece }));
    else if (piece) parts.append(piece);
  }
  return parts;
}

/* Lines of a run are buffered here until the page is redrawn. They are grouped into blocks, so that an additional
 * line does not change the layout of the others: laying out the log as a single element would soon take longer than
 * the line itself. */
const LOG_BLOCK = 40;
let unlogged = [];
function logLater(text, typed) {
  const entry = make('div');
  if (typed !== undefined) entry.append(make('span', { class: 'typed', text: `cuvmm> ${typed}\n` }));
  entry.append(coloured(text));
  unlogged.push(entry);
  if (unlogged.length > 2 * LOG_MOST) unlogged = unlogged.slice(-LOG_MOST);
}

/* Scrolls to the newest result; if it is taller than the log, to its beginning. */
function toNewest() {
  const box = $('log'), last = box.lastElementChild && box.lastElementChild.lastElementChild;
  if (last && last.offsetHeight > box.clientHeight) box.scrollTop += last.getBoundingClientRect().top - box.getBoundingClientRect().top;
  else box.scrollTop = box.scrollHeight;
}

function flushLog() {
  const box = $('log');
  for (const entry of unlogged) {
    if (!box.lastElementChild || box.lastElementChild.childElementCount >= LOG_BLOCK) box.append(make('div', { class: 'block' }));
    box.lastElementChild.append(entry);
  }
  unlogged = [];
  while (box.childElementCount > LOG_MOST / LOG_BLOCK) box.firstChild.remove();
  toNewest();
}

function log(text, typed) {
  logLater(text, typed);
  flushLog();
}

/* For a screen reader: the line's result in one sentence. */
function say(text) {
  $('say').textContent = '';
  setTimeout(() => { $('say').textContent = text; }, 30);
}
const plain = text => text.replace(/\x1b\[[0-9;]*m/g, '');

/* ---- state ---- */

function show() {
  const width = Math.floor(($('drawing').clientWidth || 600) * zoom), shown = api.web_show(width);
  $('drawing').innerHTML = shown.svg || '<p class="soft">Nothing is here yet: type <b>init</b>, then reserve addresses and create memory.</p>';
  $('letters-text').textContent = shown.text;
  if (shown.why) $('why-text').innerHTML = shown.why;
  else $('why-text').replaceChildren(...unexplained());
  $('why-more').hidden = !shown.rule;
  $('why-rule').dataset.rule = shown.rule;
  $('why').scrollTop = 0;
  $('object').textContent = '';
  $('zoom-out').disabled = zoom <= 1;
  toNewest(); /* the picture may have reduced the log's height */
  return shown;
}

/* The output of a line that is neither a call nor a mistake. */
let lastAnswer = null;
function unexplained() {
  const printed = lastAnswer ? plain(lastAnswer.output).split('\n').map(l => l.trim()).filter(l => l) : [];
  if (printed.length > 6) return [make('p', { class: 'soft', text: 'The terminal has its answer.' })];
  if (printed.length) return [make('pre', { text: printed.join('\n') })];
  return [make('p', { class: 'soft', text: lastAnswer ? 'A line that does nothing by itself.' : 'Nothing has run yet.' })];
}

function note() {
  $('undo').disabled = !state.steps && !replaced;
  const base = state.spec.replace(/,(strict|schedule=eager)/g, ''), name = base.replace(/^sim:/, '');
  const modes = [...$('mode').options].map(o => o.value), mode = (/,strict/.test(state.spec) ? ',strict' : '') + (/schedule=eager/.test(state.spec) ? ',schedule=eager' : '');
  if (![...$('machine').options].some(o => o.value === name)) $('machine').append(make('option', { value: name, text: name }));
  $('machine').value = name;
  $('mode').value = modes.includes(mode) ? mode : '';
  sessionChanged();
}

/* ---- lines ---- */

/* The module crashed: it is loaded again, and the session is lost. */
async function revive(error) {
  const lines = session;
  $('broken').hidden = false;
  $('broken').textContent = `${error instanceof Cuvmm.Ended ? error.message : 'The simulator stopped: ' + error.message}. It was started anew; the lines are in the script's tab.`;
  api = await Cuvmm.open(compiled, (stream, text) => log(text));
  state = api.web_open(spec, columns());
  session = [];
  editScript(lines.map(l => l + '\n').join(''));
  show();
  note();
}

/* The session's lines grow by one, shrink with undo, and are fetched if several were added at once (redo). */
function noteLines() {
  if (state.lines === session.length + 1 && state.line) session.push(state.line);
  else if (state.lines < session.length) session.length = state.lines;
  else if (state.lines > session.length) session = linesOf(api.web_text(0));
}

/* A prompt that was copied along with the line. */
const unprompted = line => line.replace(/^\s*(cuvmm)?>\s*/, '');

/* Runs one line as if it were typed; quiet: many follow, and the picture is drawn after the last. */
function run(line, quiet) {
  const answer = api.web_line(line);
  state = lastAnswer = answer;
  noteLines();
  (quiet ? logLater : log)(answer.output, line);
  if (answer.ended) log('The session stays: a page has no shell to leave. Restart begins a new one.\n');
  if (!quiet) {
    const shown = show();
    note();
    if (/^\s*save\s/.test(line)) keepSaved(answer);
    const first = plain(answer.output).split('\n').find(l => l.trim()) || line;
    const what = /<dt>what<\/dt><dd>(.*?)<\/dd>/.exec(shown.why);
    say(first.trim() + (what ? `. ${what[1]}.` : ''));
  }
  return answer;
}

function runLine(line) {
  try {
    return run(line, false);
  } catch (error) {
    revive(error);
    return { output: '', status: 2, called: false };
  }
}

/* Many lines, with a pause for the page now and then. Resolves to the last result. numbered: they are lines of a
 * script, whose numbers messages use, and the result lists the invalid ones in .mistakes: [{number, line, text}]. */
let running = 0;
async function runLines(lines, isFine, numbered) {
  const mine = ++running, mistakes = [];
  let answer = null, last = performance.now(), number = 0;
  try {
    for (const line of lines) {
      if (mine !== running) return flushLog(), answer;
      number++;
      if (!line.trim()) continue;
      if (numbered) api.web_number(number);
      answer = run(line, true);
      if (answer.status === 2) mistakes.push({ number, line, text: plain(answer.output).trim().split('\n')[0] });
      if (isFine && !isFine(answer, line)) break;
      if (performance.now() - last > 40) {
        flushLog();
        await new Promise(resume => setTimeout(resume));
        last = performance.now();
      }
    }
    flushLog();
    show();
    note();
    const ran = number - mistakes.length;
    if (answer) say(`${ran} ${ran === 1 ? 'line was' : 'lines were'} run${mistakes.length ? `, ${mistakes.length} not` : ''}. ${plain(answer.output).trim().split('\n')[0]}`);
  } catch (error) {
    await revive(error);
  }
  if (answer) answer.mistakes = mistakes;
  return answer;
}
const linesOf = text => text.split(/\r?\n/).filter((l, i, all) => l.trim() || i < all.length - 1);

/* ---- replacing the session ---- */

let replaced = null; /* {spec, lines}: a user's session that was replaced */
function showReplaced(text) {
  $('replaced').hidden = !replaced;
  $('replaced-text').textContent = replaced ? text : '';
  $('undo').disabled = !state.steps && !replaced;
}
function bringBack() {
  const { spec: on, lines } = replaced;
  closeLesson();
  closeExercise();
  open(on);
  replaced = null;
  showReplaced();
  mine = lines.length;
  return runLines(on ? lines.slice(1) : lines);
}

/* Opens a new session on a machine; '' is the default one. The lines of the previous session can be restored. */
function open(on) {
  if (mine && session.length) {
    replaced = { spec, lines: session };
    showReplaced(session.length === 1 ? 'Your line was replaced.' : `Your ${session.length} lines were replaced.`);
  }
  running++;
  waiting = null;
  spec = on;
  unlogged = [];
  session = [];
  mine = 0;
  lastAnswer = null;
  $('log').textContent = '';
  state = api.web_open(on, columns());
  if (state.lines) session = linesOf(api.web_text(0));
  if (state.output) log(state.output);
  show();
  note();
  return state.status === 0;
}

/* ---- history and completion ---- */

const typed = [];
let at = 0, kept = '';
function walk(step) {
  if (at === typed.length) kept = $('line').value;
  at = Math.max(0, Math.min(typed.length, at + step));
  $('line').value = at === typed.length ? kept : typed[at];
  setTimeout(() => $('line').setSelectionRange($('line').value.length, $('line').value.length));
}

const commonOf = words => words.reduce((a, b) => { let i = 0; while (i < a.length && a[i] === b[i]) i++; return a.slice(0, i); });
function put(from, word, whole) {
  const bytes = new TextEncoder().encode($('line').value).slice(0, from), before = new TextDecoder().decode(bytes);
  $('line').value = before + word + (whole && !/[=:]$/.test(word) ? ' ' : '');
}

/* False: there is nothing to complete. */
function complete() {
  const { from, words } = api.web_complete($('line').value);
  $('words').replaceChildren();
  $('words').hidden = true;
  if (!words.length) return false;
  if (words.length === 1) put(from, words[0], true);
  else {
    put(from, commonOf(words), false);
    $('words').hidden = false;
    $('words').append(...words.map(word => make('button', { type: 'button', text: word, on: () => { put(from, word, true); $('words').hidden = true; $('line').focus(); } })));
    say(`${words.length} words: ${words.slice(0, 8).join(', ')}`);
    newestInSight();
  }
  return true;
}

/* Text that the user typed or pasted. */
function typeLine(line) {
  line = unprompted(line);
  if (!line.trim()) return;
  if (typed[typed.length - 1] !== line) typed.push(line);
  at = typed.length;
  const before = state.lines;
  const answer = runLine(line);
  if (state.lines > before) mine++;
  followLesson(line, answer);
  newestInSight();
}

/* Several lines are run one after the other; if there are many, without drawing in between. */
const PASTED_DRAWN = 40;
async function paste(event) {
  const text = event.clipboardData.getData('text/plain');
  if (!/\n/.test(text.trim())) return;
  event.preventDefault();
  const lines = linesOf($('line').value + text).map(unprompted).filter(l => l.trim());
  $('line').value = '';
  if (lines.length > PASTED_DRAWN) {
    typed.push(...lines);
    at = typed.length;
    mine += lines.length;
    await runLines(lines);
    newestInSight();
  } else {
    lines.forEach(typeLine);
  }
}

/* On a phone the keyboard and the prompt leave little room: the guide is collapsed, and the last result is shown
 * above the line. */
function typing(on) {
  if (document.body.classList.contains('typing') === on || (on && !narrow.matches)) return;
  document.body.classList.toggle('typing', on);
  if (on) newestInSight();
}
function newestInSight() {
  if (!narrow.matches) return;
  toNewest();
  $('terminal').scrollIntoView({ block: 'end' }); /* the form sticks to the edge */
}

let leaves = false; /* after Escape, Tab moves on */
function lineKey(event) {
  if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
    walk(event.key === 'ArrowUp' ? -1 : 1);
    event.preventDefault();
  } else if (event.key === 'Tab' && !event.shiftKey && !leaves && $('line').value.trim() && complete()) {
    event.preventDefault();
  } else if (event.key === 'Escape') {
    leaves = true;
    $('words').hidden = true;
  } else if (event.key !== 'Tab' && event.key !== 'Shift') {
    leaves = false;
  }
}

function startTerminal() {
  $('form').addEventListener('submit', event => {
    event.preventDefault();
    const line = $('line').value;
    $('line').value = kept = '';
    $('words').hidden = true;
    typeLine(line);
  });
  $('line').addEventListener('keydown', lineKey);
  $('line').addEventListener('paste', paste);
  $('line').addEventListener('focus', () => typing(true));
  $('line').addEventListener('blur', () => { leaves = false; });
  $('complete').addEventListener('click', () => { complete(); $('line').focus(); });
  $('undo').addEventListener('click', () => { if (state.steps) followLesson('undo', runLine('undo')); else if (replaced) bringBack(); });
  $('replaced-back').addEventListener('click', bringBack);
  $('replaced-close').addEventListener('click', () => { replaced = null; showReplaced(); });
  $('zoom-in').addEventListener('click', () => { zoom = Math.min(16, zoom * 2); show(); });
  $('zoom-out').addEventListener('click', () => { zoom = Math.max(1, zoom / 2); show(); });
  $('drawing').addEventListener('click', event => name(event.target.closest('[data-object]')));
  $('drawing').addEventListener('pointerover', event => { if (event.pointerType === 'mouse') name(event.target.closest('[data-object]'), true); });
  $('drawing').addEventListener('keydown', drawingKey);
}

/* The description of an object in the picture; the arrow keys move between objects. */
let named = -1;
function name(object, keep) {
  if (!object && keep) return;
  document.querySelectorAll('#drawing .named').forEach(e => e.classList.remove('named'));
  $('object').textContent = object ? object.querySelector('title').textContent : '';
  if (object) object.classList.add('named');
  named = object ? [...document.querySelectorAll('#drawing [data-object]')].indexOf(object) : -1;
}
function drawingKey(event) {
  const objects = [...document.querySelectorAll('#drawing [data-object]')];
  const to = { ArrowRight: named + 1, ArrowDown: named + 1, ArrowLeft: named - 1, ArrowUp: named - 1, Home: 0, End: objects.length - 1, Enter: Math.max(named, 0) }[event.key];
  if (to === undefined || !objects.length) return;
  const object = objects[(to + objects.length) % objects.length];
  name(object);
  object.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  event.preventDefault();
}
