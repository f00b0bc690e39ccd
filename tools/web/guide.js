/* SPDX-License-Identifier: Apache-2.0 */

/* The guide beside the picture: its tabs, the first lines, examples, the rule book, the session as a script. */

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
  if (focus) $(`tab-${name}`).focus();
}
function tabKey(event) {
  const here = TABS.findIndex(name => $(`tab-${name}`).getAttribute('aria-selected') === 'true');
  const to = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: TABS.length - 1 }[event.key];
  if (to === undefined) return;
  tab(TABS[(to + TABS.length) % TABS.length], true);
  event.preventDefault();
}

/* The address bar names what is shown, so that it can be sent. */
function setFragment(fragment) {
  try {
    history.replaceState(null, '', fragment || location.pathname + location.search);
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
    button.addEventListener('click', () => { button.classList.add('done'); runLine(line); });
    return make('li', {}, button);
  }));
}

function showExamples() {
  $('examples').replaceChildren(...api.web_examples().map(example => {
    const title = /^title \d*\.? ?(.*)$/m.exec(example.script);
    return make('li', {}, make('button', { type: 'button', text: title ? title[1] : example.name, on: () => offerLines(example.script) }));
  }));
}

/* Files that the module holds: profiles that were put there, and what `save` has written. */
function showFiles() {
  $('files').replaceChildren(...api.web_files().map(file => make('li', {}, make('button', { type: 'button', text: `${file.name} (${file.size} bytes): keep it`, on: () => keep(file.name, api.file(file.name)) }))));
}
function keep(fileName, data) {
  const link = make('a', { href: URL.createObjectURL(new Blob([data])), download: fileName });
  document.body.append(link);
  link.click();
  link.remove();
}

/* ---- the rule book ---- */

let rules = null;
const RULES_MOST = 60;
function findRules() {
  rules = rules || api.web_rules();
  const words = $('query').value.toLowerCase().split(/\s+/).filter(w => w);
  const found = rules.filter(r => words.every(w => `${r.id} ${r.call} ${r.what} ${r.result} ${r.words}`.toLowerCase().includes(w)));
  $('rule-count').textContent = `${found.length} of ${rules.length} rules` + (found.length > RULES_MOST ? `; the first ${RULES_MOST}` : '');
  $('rule-list').replaceChildren(...found.slice(0, RULES_MOST).map(r => make('li', {}, make('button', { type: 'button', on: () => showRule(r.id) }, r.id, make('small', { text: `${r.call}: ${r.what}` })))));
}

/* One form of a rule's example, on a machine of its own. */
async function tryPair(id, form) {
  const pair = api.web_pair(id);
  if (pair.machine) api.put('my.profile', new TextEncoder().encode(pair.machine));
  open('');
  await runLines(linesOf(pair[form]), answer => !answer.refused && answer.rule !== id); /* a script ends there, and what is shown is what the rule is about */
  if (id.startsWith('VMM-LEAK-')) runLine('leaks'); /* what its end would report */
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

let waiting = null; /* lines of the script that have not run yet, when it goes on line by line */

/* A script to be run line by line. */
function offerLines(text) {
  open('');
  tab('script');
  waiting = linesOf(text).filter(line => line.trim());
  $('script-lines').value = text;
  showWaiting();
  $('script-step').focus();
}
function showWaiting() {
  $('script-step').disabled = !waiting && !$('script-lines').value.trim();
  $('script-said').textContent = !waiting ? '' : waiting.length ? `Next: ${waiting[0]}` : 'All lines have run.';
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

function sessionChanged() {
  if (document.activeElement !== $('script-lines') && !waiting) $('script-lines').value = api.web_text(0);
  showWaiting();
  showFiles();
  exerciseChanged();
}

function startGuide() {
  for (const other of TABS)
    $(`tab-${other}`).addEventListener('click', () => { tab(other); if (other === 'rules' && !rules) findRules(); });
  $('tabs').addEventListener('keydown', tabKey);
  showFirst();
  showExamples();
  $('query').addEventListener('input', findRules);
  $('rule-close').addEventListener('click', closeRule);
  $('rule-text').addEventListener('click', event => {
    const link = event.target.closest('a');
    if (!link) return;
    event.preventDefault();
    showRule(decodeURIComponent(link.hash.slice(1)));
  });
  $('why-rule').addEventListener('click', () => showRule($('why-rule').dataset.rule));
  $('script-run').addEventListener('click', () => { const lines = $('script-lines').value; open(''); runLines(linesOf(lines)); });
  $('script-step').addEventListener('click', stepLine);
  $('script-lines').addEventListener('input', () => { waiting = null; showWaiting(); });
  for (const button of document.querySelectorAll('[data-form]'))
    button.addEventListener('click', () => {
      const text = api.web_text(Number(button.dataset.form));
      $('script-said').textContent = text.startsWith('!') ? `This is not to be had as C: ${text.slice(1)}` : `Kept as ${button.dataset.name}.`;
      if (!text.startsWith('!')) keep(button.dataset.name, text);
    });
}
