/* SPDX-License-Identifier: Apache-2.0 */

/* The session: lines go to the module, its answers to the terminal, the picture and the explanation. */

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

let api = null;      /* the module; another one after a trap */
let compiled = null;
let state = { lines: 0, steps: 0, spec: 'sim:h100' };
let spec = '';       /* what the session was opened with */
let zoom = 1;
const LOG_MOST = 4000, COLUMNS_LEAST = 56, COLUMNS_MOST = 100;

/* How many letters fit into a line of the terminal; of a session they stay, so that an undone one prints as it did. */
function columns() {
  const probe = make('span', { text: '0'.repeat(50) });
  $('log').append(probe);
  const letter = probe.getBoundingClientRect().width / 50;
  probe.remove();
  const fit = letter ? Math.floor(($('log').clientWidth - 22) / letter) : COLUMNS_MOST;
  return Math.max(COLUMNS_LEAST, Math.min(COLUMNS_MOST, fit));
}

/* ---- the log ---- */

/* The colours of a terminal as classes. */
function coloured(text) {
  const parts = document.createDocumentFragment();
  let classes = '';
  for (const piece of text.split(/(\x1b\[[0-9;]*m)/)) {
    const code = /^\x1b\[([0-9;]*)m$/.exec(piece);
    if (code) classes = code[1] && code[1] !== '0' ? code[1].split(';').map(c => 'c' + c).join(' ') : '';
    else if (piece && classes) parts.append(make('span', { class: classes, text: piece }));
    else if (piece) parts.append(piece);
  }
  return parts;
}

/* Lines of a run wait here until the page is drawn again: a log that is laid out for each line costs thirty times the line. */
let unlogged = [];
function logLater(text, typed) {
  if (typed !== undefined) unlogged.push(make('span', { class: 'typed', text: `cuvmm> ${typed}\n` }));
  unlogged.push(coloured(text));
  if (unlogged.length > 2 * LOG_MOST) unlogged = unlogged.slice(-LOG_MOST);
}

function flushLog() {
  const box = $('log');
  box.append(...unlogged);
  unlogged = [];
  while (box.childNodes.length > LOG_MOST) box.firstChild.remove();
  box.scrollTop = box.scrollHeight;
}

function log(text, typed) {
  logLater(text, typed);
  flushLog();
}

/* For a screen reader: what the line came to, in one sentence. */
function say(text) {
  $('say').textContent = '';
  setTimeout(() => { $('say').textContent = text; }, 30);
}
const plain = text => text.replace(/\x1b\[[0-9;]*m/g, '');

/* ---- what there is ---- */

function show() {
  const width = Math.floor(($('drawing').clientWidth || 600) * zoom), shown = api.web_show(width);
  $('drawing').innerHTML = shown.svg || '<p class="soft">Nothing is here yet: type <b>init</b>, then reserve addresses and create memory.</p>';
  $('letters-text').textContent = shown.text;
  $('why-text').innerHTML = shown.why || '<p class="soft">Nothing has run yet.</p>';
  $('why-more').hidden = !shown.rule;
  $('why-rule').dataset.rule = shown.rule;
  $('why').scrollTop = 0;
  $('object').textContent = '';
  $('zoom-out').disabled = zoom <= 1;
  $('log').scrollTop = $('log').scrollHeight; /* the picture may have taken some of its height */
  return shown;
}

function note() {
  $('undo').disabled = !state.steps;
  const base = state.spec.replace(/,(strict|schedule=eager)/g, ''), name = base.replace(/^sim:/, '');
  const modes = [...$('mode').options].map(o => o.value), mode = (/,strict/.test(state.spec) ? ',strict' : '') + (/schedule=eager/.test(state.spec) ? ',schedule=eager' : '');
  if (![...$('machine').options].some(o => o.value === name)) $('machine').append(make('option', { value: name, text: name }));
  $('machine').value = name;
  $('mode').value = modes.includes(mode) ? mode : '';
  sessionChanged();
}

/* ---- lines ---- */

/* The module gave up: it is loaded anew, and the session is lost. */
async function revive(error) {
  $('broken').hidden = false;
  $('broken').textContent = `${error instanceof Cuvmm.Ended ? error.message : 'The simulator stopped: ' + error.message}. It was started anew; the lines are in the script's tab.`;
  const lines = lastLines;
  api = await Cuvmm.open(compiled, (stream, text) => log(text));
  state = api.web_open(spec, columns());
  $('script-lines').value = lines;
  show();
  note();
}
let lastLines = '';

/* One line, as if it was typed; quiet: many follow, and the picture is drawn after the last. */
function run(line, quiet) {
  const answer = api.web_line(line);
  state = answer;
  (quiet ? logLater : log)(answer.output, line);
  if (answer.ended) {
    log('(the shell has ended; the page goes on with a new session)\n');
    open(spec);
    return answer;
  }
  if (!quiet) {
    const shown = show();
    note();
    lastLines = api.web_text(0);
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

/* Many lines, with a pause for the page now and then. Resolves to the last answer. */
let running = 0;
async function runLines(lines, isFine) {
  const mine = ++running;
  let answer = null, last = performance.now();
  try {
    for (const line of lines) {
      if (mine !== running) return flushLog(), answer;
      answer = run(line, true);
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
    lastLines = api.web_text(0);
    if (answer) say(`${lines.length} lines were run. ${plain(answer.output).trim().split('\n')[0]}`);
  } catch (error) {
    await revive(error);
  }
  return answer;
}
const linesOf = text => text.split(/\r?\n/).filter((l, i, all) => l.trim() || i < all.length - 1);

/* A new session on a machine; '' is the usual one. */
function open(on) {
  running++;
  waiting = null;
  spec = on;
  unlogged = [];
  $('log').textContent = '';
  state = api.web_open(on, columns());
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
  }
  return true;
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
    if (!line.trim()) return;
    if (typed[typed.length - 1] !== line) typed.push(line);
    at = typed.length;
    followLesson(line, runLine(line));
  });
  $('line').addEventListener('keydown', lineKey);
  $('line').addEventListener('blur', () => { leaves = false; });
  $('complete').addEventListener('click', () => { complete(); $('line').focus(); });
  $('undo').addEventListener('click', () => followLesson('undo', runLine('undo')));
  $('zoom-in').addEventListener('click', () => { zoom = Math.min(16, zoom * 2); show(); });
  $('zoom-out').addEventListener('click', () => { zoom = Math.max(1, zoom / 2); show(); });
  $('drawing').addEventListener('click', event => {
    const object = event.target.closest('[data-object]');
    $('object').textContent = object ? object.querySelector('title').textContent : '';
  });
  $('drawing').addEventListener('pointerover', event => {
    const object = event.target.closest('[data-object]');
    if (object && event.pointerType === 'mouse') $('object').textContent = object.querySelector('title').textContent;
  });
}
