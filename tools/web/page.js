/* SPDX-License-Identifier: Apache-2.0 */

/* The page as a whole: the module, the machine, files that are dropped, the address bar, keys. */

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

const FILE_MOST = 256 << 20;
async function takeFile(file) {
  if (file.size > FILE_MOST) { log(`${file.name} is too large for this page\n`); return; }
  const data = new Uint8Array(await file.arrayBuffer()), head = new TextDecoder().decode(data.subarray(0, 400));
  const fileName = file.name.replace(/[^\w.-]/g, '_');
  if (/^\s*\{\s*"cuvmm-trace"/.test(head) || head.includes('\0')) {
    api.put(fileName, data);
    showTrace(fileName);
  } else if (fileName.endsWith('.profile') || /^\s*(base|name)\s*=/m.test(head.replace(/#.*/g, '')) && !/^\s*init/m.test(head)) {
    api.put(fileName, data);
    log(`${fileName} is a machine now: backend sim:${fileName}\n`);
    if (open(`sim:${fileName}`)) say(`A session on ${fileName}`);
  } else {
    open('');
    runLines(linesOf(new TextDecoder().decode(data)));
  }
  showFiles();
}

function startFiles() {
  $('file').addEventListener('change', () => { if ($('file').files[0]) takeFile($('file').files[0]); $('file').value = ''; });
  document.addEventListener('dragover', event => { event.preventDefault(); $('drop').hidden = false; });
  document.addEventListener('dragleave', event => { if (!event.relatedTarget) $('drop').hidden = true; });
  document.addEventListener('drop', event => {
    event.preventDefault();
    $('drop').hidden = true;
    const file = event.dataTransfer.files[0], text = event.dataTransfer.getData('text/plain');
    if (file) takeFile(file);
    else if (text) { open(''); runLines(linesOf(text)); }
  });
  $('trace-close').addEventListener('click', () => tab('start', true));
}

/* ---- the machine ---- */

/* The same lines on another machine. */
function changeMachine() {
  const lines = linesOf(api.web_text(0)).filter(line => !/^\s*backend\s/.test(line));
  const name = $('machine').value, on = `sim:${name}${$('mode').value}`;
  if (!open(on === 'sim:h100' ? '' : on)) { open(''); return; }
  runLines(lines.filter(l => l.trim()));
}

/* ---- the address bar ---- */

function share() {
  const link = location.href.replace(/#.*/, '') + '#script=' + encodeURIComponent(api.web_text(0).replace(/\n$/, ''));
  setFragment(link.slice(link.indexOf('#')));
  const done = () => { $('share').textContent = 'Copied'; say('The link is copied'); setTimeout(() => { $('share').textContent = 'Link'; }, 1500); };
  if (navigator.clipboard && window.isSecureContext) navigator.clipboard.writeText(link).then(done, () => prompt('The link', link));
  else prompt('The link', link);
}

function runLink(lines) {
  open('');
  runLines(linesOf(lines));
  tab('script');
  return true;
}

/* What the link names; one that names nothing says so, and the page is as without it. */
function follow() {
  const [, kind, value] = /^#(script|lesson|exercise|rule)=(.*)$/s.exec(location.hash) || [];
  const to = { script: runLink, lesson: number => openLesson(Number(number)), exercise: number => openExercise(Number(number)), rule: showRule }[kind];
  let text = null;
  try { text = decodeURIComponent(value); } catch (error) { /* not whole */ }
  if (!to || (text !== null && to(text))) return kind;
  log(text === null || kind === 'script' ? `The link is damaged: its ${kind} cannot be read.\n` : `The link names a ${kind} that does not exist: ${text}.\n`);
  return '';
}

/* ---- keys that no field takes ---- */

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input, textarea, select')) return;
  const next = [...document.querySelectorAll('.next')].find(e => e.offsetParent);
  /* What is typed goes to the line, wherever the focus is: a lesson's button must not swallow "init". No line begins with < or >. */
  if (/^[\p{L}#]$/u.test(event.key)) { $('line').focus(); return; }
  if (event.key === '/') $('line').focus();
  else if (event.key === '<' && state.steps) $('undo').click();
  else if (event.key === '>' && next && !next.disabled) next.click();
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
  window.addEventListener('hashchange', follow);
  window.cuvmm = { runLine, runLines, module: () => api }; /* for the console, and for tests */
  $('legend-box').open = matchMedia('(min-width: 761px)').matches;
  open('');
  log('A simulated H100. Type init, or help, or press a line of the guide; Tab completes words.\n');
  if (!follow() && matchMedia('(min-width: 761px)').matches) $('line').focus();
  document.documentElement.dataset.ready = Math.round(performance.now());
  document.documentElement.dataset.started = Math.round(performance.now() - began);
}
start();
