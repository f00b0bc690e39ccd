/* SPDX-License-Identifier: Apache-2.0 */

/* The guide next to the picture: its tabs, the first lines, examples, the rule book, the session as a script. */

/* ---- tabs ---- */

const TABS = ['start', 'lessons', 'exercises', 'rules', 'script'];
function tab(name, focus) {
  for (const other of TABS) {
    const chosen = other === name;
    $(`tab-${other}`).setAttribute('aria-selected', chosen);
    $(`tab-${other}`).tabIndex = chosen ? 0 : -1;
    $(other).hidden = !chosen;
  }
  $('trace').hidden = true;
  $('guide').scrollTop = 0;
  typing(false);
  if (name === 'script') fillScript();
  if (focus) $(`tab-${name}`).focus();
}
function tabKey(event) {
  const here = TABS.findIndex(name => $(`tab-${name}`).getAttribute('aria-selected') === 'true');
  const to = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: TABS.length - 1 }[event.key];
  if (to === undefined) return;
  tab(TABS[(to + TABS.length) % TABS.length], true);
  noteTab(TABS[(to + TABS.length) % TABS.length]);
  event.preventDefault();
}

/* The address bar names the current content, so that it can be shared, and the browser's Back button returns to the
 * previous content. */
let returning = false; /* by Back or Forward, which have already changed the address */
function setFragment(fragment) {
  const tabNow = TABS.find(name => $(`tab-${name}`).getAttribute('aria-selected') === 'true') || 'start';
  try {
    if (returning || location.hash === fragment) history.replaceState({ tab: tabNow }, '', fragment || location.pathname + location.search);
    else history.pushState({ tab: tabNow }, '', fragment || location.pathname + location.search);
  } catch (error) { /* a page in a frame may not */ }
}

/* The target of Back from a rule. */
function noteTab(name) {
  try {
    history.replaceState({ tab: name }, '');
  } catch (error) { /* a page in a frame may not */ }
}

/* ---- the first lines ---- */

const FIRST = [
  ['init', 'what every CUDA program does first'],
  ['c = context dev0', 'work needs a context on a device'],
  ['r = reserve 4gran', 'addresses: a range, with nothing behind it'],
  ['h = create 2gran dev0', 'memory: two granules of dev0, without an address'],
  ['map r 2gran h', 'puts the memory at the addresses'],
  ['fill r 1gran 7', 'refused: no device has access yet. See why'],
  ['access r 2gran dev0:rw', 'grants the device access'],
  ['fill r 1gran 7', 'now it works'],
  ['unmap r 2gran', 'separates addresses and memory again'],
  ['undo', 'takes a step back'],
  ['help', 'all there is to type']
];
function showFirst() {
  $('first-lines').replaceChildren(...FIRST.map(([line, what]) => {
    const button = make('button', { type: 'button' }, line, make('span', { class: 'what', text: `  ${what}` }));
    button.addEventListener('click', () => { button.classList.add('done'); typeLine(line); });
    return make('li', {}, button);
  }));
}

function showExamples() {
  $('examples').replaceChildren(...api.web_examples().map(example => {
    const title = /^title \d*\.? ?(.*)$/m.exec(example.script);
    return make('li', {}, make('button', { type: 'button', text: title ? title[1] : example.name, on: () => offerLines(example.script) }));
  }));
}

/* The module's files: dropped profiles, and files that `save` has written. The list is updated only when they have changed. */
let listed = '';
function showFiles() {
  const raw = api.web_files.raw();
  if (raw === listed) return;
  listed = raw;
  $('files').replaceChildren(...JSON.parse(raw).map(file => make('li', {}, make('button', { type: 'button', text: `Download ${file.name} (${file.size} bytes)`, on: () => keep(file.name, api.file(file.name)) }))));
}
function keep(fileName, data) {
  const link = make('a', { href: URL.createObjectURL(new Blob([data])), download: fileName });
  document.body.append(link);
  link.click();
  link.remove();
}
/* Files written by `save` exist only in the page's memory until the user downloads them. */
function keepSaved(answer) {
  const said = /saved: (\S+),/.exec(plain(answer.output));
  const data = said && api.file(said[1]);
  if (data) keep(said[1], data);
}

/* ---- the rule book ---- */

let rules = null;
const RULES_STEP = 60;
function findRules(event, most = RULES_STEP) {
  rules = rules || api.web_rules();
  const words = $('query').value.toLowerCase().split(/\s+/).filter(w => w);
  const found = rules.filter(r => words.every(w => `${r.id} ${r.call} ${r.what} ${r.result} ${r.words}`.toLowerCase().includes(w)));
  $('rule-count').textContent = `${found.length} of ${rules.length} rules` + (found.length > most ? `; the first ${most}` : '');
  $('rule-list').replaceChildren(...found.slice(0, most).map(r => make('li', {}, make('button', { type: 'button', on: () => showRule(r.id) }, r.id, make('small', { text: `${r.call}: ${r.what}` })))));
  if (found.length <= most) return;
  const more = make('button', { type: 'button', text: `Show more (${found.length - most} left)`, on: () => {
    findRules(null, most + RULES_STEP);
    $('rule-list').children[most].firstChild.focus();
  } });
  $('rule-list').append(make('li', {}, more));
}

/* One form of a rule's example, on a separate machine. */
async function tryPair(id, form) {
  const pair = api.web_pair(id);
  if (pair.machine) api.put('my.profile', new TextEncoder().encode(pair.machine));
  open('');
  /* a script ends there, and the result shows the rule */
  await runLines(linesOf(pair[form]), answer => !answer.refused && answer.rule !== id);
  if (id.startsWith('VMM-LEAK-')) runLine('leaks'); /* the report at its end */
}

function showRule(id) {
  const html = api.web_rule(id);
  if (!html) return false;
  tab('rules');
  $('rule-search').hidden = true;
  $('rule').hidden = false;
  $('rule-text').innerHTML = html;
  $('rule-text').querySelectorAll('.forms > div').forEach((div, i) => {
    const form = i ? 'corrected' : 'broken';
    div.querySelectorAll('.try').forEach(e => e.remove()); /* a command line, which the button replaces here */
    div.append(make('button', { type: 'button', class: i ? '' : 'primary', text: i ? 'Try the correction' : 'Try what breaks it', on: () => tryPair(id, form) }));
  });
  $('rule-text').querySelector('h3').tabIndex = -1;
  $('rule-text').querySelector('h3').focus();
  setFragment(`#rule=${id}`);
  return true;
}
function closeRule() {
  $('rule').hidden = true;
  $('rule-search').hidden = false;
  findRules();
  setFragment('');
}

/* ---- the session as a script ---- */

let waiting = null; /* lines of the script that have not run yet, when running line by line */
let edited = false; /* the editor contains the user's own text, which the page must not change */
let since = 0;      /* the session's lines at that time */

function editScript(text) {
  edited = true;
  since = session.length;
  $('script-lines').value = text;
}

/* A script to be run line by line. */
function offerLines(text) {
  open('');
  edited = false;
  tab('script');
  waiting = linesOf(text).filter(line => line.trim());
  $('script-lines').value = text;
  showWaiting();
  $('script-step').focus();
}
function showWaiting() {
  $('script-step').disabled = !waiting && !$('script-lines').value.trim();
  if (waiting) scriptSays(waiting.length ? `Next: ${waiting[0]}` : 'All lines have run.');
}
function scriptSays(text) {
  $('script-said').textContent = text;
}
function stepLine() {
  if (!waiting || !waiting.length) {
    const text = $('script-lines').value;
    offerLines(text);
    return;
  }
  runLine(waiting.shift());
  showWaiting();
}

/* Shows the session's lines if the editor is visible and has no text of the user's. */
const SCRIPT_AT_ONCE = 500;
let filling = 0;
function fillScript() {
  clearTimeout(filling);
  if (edited || waiting || $('script').hidden || document.activeElement === $('script-lines')) return;
  $('script-lines').value = session.map(l => l + '\n').join('');
}

/* The editor's lines from the first on. The text is unchanged; lines that were not run are listed and the first one is marked. */
async function runScript() {
  const text = $('script-lines').value, lines = linesOf(text);
  if (!edited || session.length === since) mine = 0; /* the editor has them, too */
  waiting = null;
  edited = true;
  open('');
  const answer = await runLines(lines, null, true), mistakes = (answer && answer.mistakes) || [];
  mine = session.length;
  since = session.length;
  edited = !!mistakes.length;
  sessionChanged();
  if (!mistakes.length) { scriptSays(answer ? 'All lines have run.' : ''); return; }
  scriptSays(mistakes.slice(0, 5).map(m => `Line ${m.number} was not run: ${m.line.trim()}\n    ${m.text}`).join('\n') + (mistakes.length > 5 ? `\nand ${mistakes.length - 5} more` : ''));
  const before = lines.slice(0, mistakes[0].number - 1).reduce((sum, l) => sum + l.length + 1, 0);
  $('script-lines').focus();
  $('script-lines').setSelectionRange(before, before + mistakes[0].line.length);
}

function sessionChanged() {
  clearTimeout(filling);
  if (session.length > SCRIPT_AT_ONCE) filling = setTimeout(fillScript, 300);
  else fillScript();
  $('script-theirs').hidden = !edited || session.length === since;
  showWaiting();
  showFiles();
  exerciseChanged();
}

function startGuide() {
  for (const other of TABS)
    $(`tab-${other}`).addEventListener('click', () => { tab(other); noteTab(other); if (other === 'rules' && !rules) findRules(); });
  $('tabs').addEventListener('keydown', tabKey);
  showFirst();
  showExamples();
  $('query').addEventListener('input', findRules);
  $('rule-close').addEventListener('click', () => { closeRule(); $('query').focus(); });
  $('rule-text').addEventListener('click', event => {
    const link = event.target.closest('a');
    if (!link) return;
    event.preventDefault();
    showRule(decodeURIComponent(link.hash.slice(1)));
  });
  $('why-rule').addEventListener('click', () => showRule($('why-rule').dataset.rule));
  $('script-run').addEventListener('click', runScript);
  $('script-fill').addEventListener('click', () => { edited = false; $('script-run').focus(); fillScript(); sessionChanged(); scriptSays(''); });
  $('script-step').addEventListener('click', stepLine);
  $('script-lines').addEventListener('input', () => {
    waiting = null;
    if (!edited) since = session.length;
    edited = true;
    scriptSays('');
    showWaiting();
  });
  for (const button of document.querySelectorAll('[data-form]'))
    button.addEventListener('click', () => {
      const text = api.web_text(Number(button.dataset.form));
      scriptSays(text.startsWith('!') ? `This is not to be had as C: ${text.slice(1)}` : `Downloaded as ${button.dataset.name}.`);
      if (!text.startsWith('!')) keep(button.dataset.name, text);
    });
}
