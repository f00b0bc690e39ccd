/* SPDX-License-Identifier: Apache-2.0 */

/* The page as a whole: the module, the machine, dropped files, the address bar, keys. */

/* ---- files ---- */

let traceAddress = null;
function showTrace(fileName) {
  const page = api.web_trace(fileName);
  if (page.startsWith('!')) { log(page.slice(1) + '\n'); say(page.slice(1)); return; }
  if (traceAddress) URL.revokeObjectURL(traceAddress);
  traceAddress = URL.createObjectURL(new Blob([page], { type: 'text/html' }));
  for (const other of TABS) $(other).hidden = true;
  $('trace').hidden = false;
  $('trace-frame').src = $('trace-link').href = traceAddress;
  $('trace-frame').title = `The trace ${fileName}`;
  $('trace-link').focus();
}

/* Is the first non-empty line a line of a script? The commands are those that can be completed. */
function refusalOf(fileName, text) {
  const lines = linesOf(text), at = lines.findIndex(l => l.trim() && !l.trim().startsWith('#'));
  if (at < 0) return `${fileName} holds no line to run.`;
  const commands = new Set(api.web_complete('').words), first = unprompted(lines[at]).trim().replace(/^[A-Za-z]\w*\s*=\s*/, '').split(/\s/)[0];
  return commands.has(first) ? '' : `${fileName} is not a script: line ${at + 1} is "${lines[at].trim().slice(0, 60)}".`;
}

const FILE_MOST = 256 << 20;
async function takeFile(file) {
  if (file.size > FILE_MOST) { log(`${file.name} is too large for this page\n`); return; }
  const data = new Uint8Array(await file.arrayBuffer()), head = new TextDecoder().decode(data.subarray(0, 400));
  const fileName = file.name.replace(/[^\w.-]/g, '_');
  const refuse = why => { log(`${why} Nothing was run.\n`); say(why); };
  if (/^\s*\{\s*"cuvmm-trace"/.test(head) || /\.(vtrace|jsonl)$/.test(fileName)) {
    api.put(fileName, data);
    showTrace(fileName);
  } else if (head.includes('\0') || head.includes('\ufffd')) {
    refuse(`${fileName} is neither a script nor a trace nor the profile of a machine.`);
  } else if (fileName.endsWith('.profile') || /^\s*(base|name)\s*=/m.test(head.replace(/#.*/g, '')) && !/^\s*init/m.test(head)) {
    api.put(fileName, data);
    log(`${fileName} is a machine now: backend sim:${fileName}\n`);
    if (open(`sim:${fileName}`)) say(`A session on ${fileName}`);
  } else {
    const text = new TextDecoder().decode(data), why = refusalOf(fileName, text);
    if (why) refuse(why);
    else await takeScript(text);
  }
  showFiles();
}

/* A script replaces the session; it is shown in the editor if some of its lines were not run. */
async function takeScript(text) {
  open('');
  editScript(text);
  const answer = await runLines(linesOf(text), null, true), mistakes = (answer && answer.mistakes) || [];
  edited = !!mistakes.length;
  since = mine = session.length;
  sessionChanged();
  scriptSays(mistakes.map(m => `Line ${m.number} was not run: ${m.line.trim()}`).join('\n'));
  if (mistakes.length) log(`${mistakes.length === 1 ? 'One line was' : `${mistakes.length} lines were`} not run; the script is in the tab Script.\n`);
}

async function takeFiles(files) {
  for (const file of files) await takeFile(file);
}

function startFiles() {
  $('file').addEventListener('change', () => { takeFiles([...$('file').files]).then(() => { $('file').value = ''; }); });
  document.addEventListener('dragover', event => { event.preventDefault(); $('drop').hidden = false; });
  document.addEventListener('dragleave', event => { if (!event.relatedTarget) $('drop').hidden = true; });
  document.addEventListener('drop', event => {
    event.preventDefault();
    $('drop').hidden = true;
    const files = [...event.dataTransfer.files], text = event.dataTransfer.getData('text/plain');
    if (files.length) takeFiles(files);
    else if (text && !refusalOf('The text', text)) takeScript(text);
    else if (text) log(`${refusalOf('The text', text)} Nothing was run.\n`);
  });
  $('trace-close').addEventListener('click', () => tab('start', true));
}

/* ---- the machine ---- */

/* The same lines on another machine. */
async function changeMachine() {
  const lines = session.filter(line => !/^\s*backend\s/.test(line) && line.trim()), typedLines = mine;
  const name = $('machine').value, on = `sim:${name}${$('mode').value}`;
  mine = 0; /* they are not lost */
  if (!open(on === 'sim:h100' ? '' : on)) { open(''); return; }
  await runLines(lines);
  mine = Math.min(typedLines, session.length);
  if (lines.length) log(`(${lines.length === 1 ? 'your line was' : `your ${lines.length} lines were`} run again, on ${on})\n`);
}

/* ---- the address bar ---- */

const fragmentOf = lines => '#script=' + encodeURIComponent(lines.join('\n'));
function share() {
  const link = location.href.replace(/#.*/, '') + fragmentOf(session);
  setFragment(link.slice(link.indexOf('#')));
  const done = () => { $('share').textContent = 'Copied'; say('The link is copied'); setTimeout(() => { $('share').textContent = 'Link'; }, 1500); };
  if (navigator.clipboard && window.isSecureContext) navigator.clipboard.writeText(link).then(done, () => prompt('The link', link));
  else prompt('The link', link);
}

function runLink(lines) {
  tab('script');
  takeScript(lines);
  $('tab-script').focus();
  return true;
}

/* Shows the link's target; an invalid link is reported, and otherwise ignored. */
function follow() {
  const [, kind, value] = /^#(script|lesson|exercise|rule)=(.*)$/s.exec(location.hash) || [];
  const to = { script: runLink, lesson: number => openLesson(Number(number)), exercise: number => openExercise(Number(number)), rule: showRule }[kind];
  let text = null;
  try { text = decodeURIComponent(value); } catch (error) { /* not whole */ }
  if (!to || (text !== null && to(text))) return kind;
  log(text === null || kind === 'script' ? `The link is damaged: its ${kind} cannot be read.\n` : `The link names a ${kind} that does not exist: ${text}.\n`);
  return '';
}

/* Back and Forward restore the earlier content; the session, a running lesson and an exercise are unchanged. */
function goBack() {
  const [, kind, value] = /^#(script|lesson|exercise|rule)=(.*)$/s.exec(location.hash) || [];
  returning = true;
  if (kind === 'rule') showRule(decodeURIComponent(value));
  else if (kind === 'lesson' && lesson && lesson.number === Number(value)) tab('lessons');
  else if (kind === 'lesson') openLesson(Number(value));
  else if (kind === 'exercise' && exercise && exercise.number === Number(value)) tab('exercises');
  else if (kind === 'exercise') openExercise(Number(value));
  else if (kind === 'script') tab('script');
  else {
    if (!$('rule').hidden) closeRule();
    tab((history.state && history.state.tab) || 'start');
  }
  returning = false;
}

/* ---- the session survives a reload ---- */

function store() {
  try {
    if (session.length && (mine || edited) && location.hash !== fragmentOf(session)) sessionStorage.setItem('cuvmm', JSON.stringify({ spec, lines: session, script: edited ? $('script-lines').value : null }));
    else sessionStorage.removeItem('cuvmm');
  } catch (error) { /* a browser without storage */ }
}
/* Resolves when the lines have been run again; with a link, the page only offers to run them. */
async function restore(followed) {
  const [arrived] = performance.getEntriesByType('navigation');
  let stored = null;
  try { stored = JSON.parse(sessionStorage.getItem('cuvmm')); } catch (error) { /* not to be had */ }
  if (!stored || !arrived || arrived.type === 'navigate') return;
  replaced = { spec: stored.spec, lines: stored.lines };
  if (followed) { showReplaced('Your lines from before the page was loaded again:'); return; }
  await bringBack();
  log('(the session from before the page was loaded again)\n');
  if (stored.script) { editScript(stored.script); $('script-theirs').hidden = false; }
}

/* ---- keys outside of input fields ---- */

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input, textarea, select')) return;
  const next = [...document.querySelectorAll('.next')].find(e => e.offsetParent);
  if (/^[a-f]$/.test(event.key) && chooseByKey(event.key)) { event.preventDefault(); return; }
  /* Typed text goes to the input line, regardless of the focus: a lesson's button must not swallow "init". No line
   * begins with < or >. */
  if (/^[\p{L}#]$/u.test(event.key)) { $('line').focus(); return; }
  if (event.key === '/') $('line').focus();
  else if (event.key === '<' && state.steps) $('undo').click();
  else if (event.key === '>' && next && !next.disabled) next.click();
  else if (event.key === '>' && toQuestion()) { /* it says so */ }
  else return;
  event.preventDefault();
}

let redrawing = 0;
async function start() {
  const text = $('wasm').textContent, began = performance.now();
  try {
    const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
    compiled = await WebAssembly.compile(bytes);
    api = await Cuvmm.open(compiled, (stream, said) => log(said));
  } catch (error) {
    $('broken').hidden = false;
    $('broken').textContent = `This browser cannot run the simulator (${error.message}). It takes one of the last years, with WebAssembly.`;
    return;
  }
  $('wasm').remove();
  $('machine').append(...api.web_machines().map(m => make('option', { value: m.name, text: `${m.name}${m.devices > 1 ? `, ${m.devices} devices` : ''}`, title: m.about })));
  startTerminal();
  startGuide();
  startLessons();
  startFiles();
  $('machine').addEventListener('change', changeMachine);
  $('mode').addEventListener('change', changeMachine);
  $('restart').addEventListener('click', () => { open(spec); say('A new session'); });
  $('share').addEventListener('click', share);
  document.addEventListener('keydown', key);
  window.addEventListener('resize', () => { clearTimeout(redrawing); redrawing = setTimeout(show, 100); });
  window.addEventListener('popstate', event => { if (event.state && event.state.tab) goBack(); else if (location.hash) follow(); });
  window.addEventListener('pagehide', store);
  window.cuvmm = { runLine, runLines, module: () => api }; /* for the console, and for tests */
  $('legend-box').open = matchMedia('(min-width: 761px)').matches;
  open('');
  log('A simulated H100. Type init, or help, or press a line of the guide; Tab completes words.\n');
  returning = true; /* the address is not a separate history entry */
  const followed = location.hash && follow();
  returning = false;
  if (!followed) setFragment(location.hash);
  restore(followed);
  if (!followed && !narrow.matches) $('line').focus();
  document.documentElement.dataset.ready = Math.round(performance.now());
  document.documentElement.dataset.started = Math.round(performance.now() - began);
}
start();
