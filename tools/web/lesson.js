/* SPDX-License-Identifier: Apache-2.0 */

/* Lessons and exercises. A lesson proceeds in steps: text, possibly a question, and the lines that answer it. */

let lesson = null; /* {number, title, steps, next, right, first} */

/* `code` in a text. Commands about a rule or a lesson become links here. */
function words(text) {
  return text.split(/(`[^`]*`)/).filter(t => t).map(t => t.startsWith('`') ? codeOf(t.slice(1, -1)) : t);
}
function codeOf(text) {
  const [, command, of] = /^cuvmm (explain|lesson) (VMM-[A-Z0-9-]+|\d+)$/.exec(text) || [];
  if (!command) return make('code', { text });
  const link = make('a', { href: `#${command === 'explain' ? 'rule' : 'lesson'}=${of}` }, make('code', { text: command === 'explain' ? of : `lesson ${of}` }));
  link.addEventListener('click', event => { event.preventDefault(); if (command === 'explain') showRule(of); else openLesson(Number(of)); });
  return link;
}
/* Paragraphs; indented lines are shown unchanged. */
function paragraphs(text) {
  const parts = [];
  for (const block of text.split(/\n\s*\n/)) {
    let run = [];
    const flush = () => { if (run.length) parts.push(make('p', {}, ...words(run.join(' ')))); run = []; };
    for (const line of block.split('\n')) {
      if (!line.startsWith(' ')) { if (line) run.push(line); continue; }
      flush();
      const last = parts[parts.length - 1];
      if (last && last.tagName === 'PRE') last.textContent += '\n' + line;
      else parts.push(make('pre', { text: line }));
    }
    flush();
  }
  return parts;
}

/* Groups parts into steps: each ends with the lines to run, if any. */
function stepsOf(parts) {
  const steps = [];
  let step = null;
  const fresh = () => { step = { texts: [], question: null, after: [], lines: [] }; steps.push(step); };
  for (const part of parts) {
    if (!step || (part.kind !== 'command' && part.kind !== 'draw' && step.lines.length) || (part.kind === 'question' && step.question)) fresh();
    if (part.kind === 'text') (step.question ? step.after : step.texts).push(part.text);
    else if (part.kind === 'question') step.question = part;
    else if (part.kind === 'command') step.lines.push(part.text);
  }
  return steps;
}

function openLesson(number) {
  const found = api.web_lesson(number);
  if (!found.parts) return false;
  tab('lessons');
  lesson = { number, title: found.title, steps: stepsOf(found.parts), next: 0, right: 0, asked: 0 };
  $('lesson-list').hidden = true;
  $('lesson').hidden = false;
  $('lesson-title').textContent = `${number}. ${found.title}`;
  $('lesson-steps').replaceChildren();
  $('lesson-page').open = false;
  $('lesson-page-text').replaceChildren(...markdown(found.page));
  open('');
  setFragment(`#lesson=${number}`);
  showStep();
  $('lesson-title').focus();
  return true;
}
function closeLesson() {
  if (!lesson) return;
  lesson = null;
  $('lesson').hidden = true;
  $('lesson-list').hidden = false;
  setFragment('');
}

function question(step, done) {
  const asked = step.question, box = make('fieldset', {}, make('legend', { text: asked.text }));
  let first = true, over = false;
  lesson.asked++;
  asked.choices.forEach((choice, i) => {
    const answer = make('p', { class: 'answer', hidden: '' });
    const button = make('button', { type: 'button', class: 'choice', text: `${'abcdef'[i]}) ${choice.text}` });
    button.addEventListener('click', () => {
      button.classList.add(choice.right ? 'right' : 'wrong');
      answer.hidden = false;
      answer.textContent = `${choice.right ? '\u2713' : '\u2717'} ${choice.answer}`;
      say(choice.answer);
      if (choice.right && !over) { over = true; lesson.right += first; done(); }
      first = false;
      box.scrollIntoView({ block: 'nearest' }); /* the choices that are left, too */
      answer.scrollIntoView({ block: 'nearest' });
    });
    box.append(button, answer);
  });
  return box;
}

/* The explanation of a call among others. */
function whyOf(shown) {
  const box = make('div', { class: 'why' });
  box.innerHTML = shown.why;
  return box;
}

/* Scrolls so that the text to read before the next press is above the button bar; if it is taller than the pane, its
 * beginning is visible. */
function seen(element) {
  const bar = $('lesson-go').getBoundingClientRect().top, place = element.getBoundingClientRect();
  return place.bottom < bar + 3 || (place.height > innerHeight / 2 && place.top < bar - 80);
}

/* The button below the steps, which is always visible: it first scrolls to unread text, then runs the step. */
function goOf(step, run) {
  const go = make('button', { type: 'button', class: 'primary next' });
  step.show = () => {
    if (!go.isConnected) return;
    const asked = step.open ? null : step.asked;
    go.hidden = !!asked && (seen(asked) || asked.contains(document.activeElement));
    go.textContent = !seen(asked || step.read) ? 'Read on' : step.lines.length ? 'Run' : 'Go on';
  };
  go.addEventListener('click', () => {
    const asked = step.open ? null : step.asked;
    if (!asked && seen(step.read)) { run(); return; }
    (asked || step.read).scrollIntoView({ block: 'nearest' });
    step.show();
    if (asked) asked.querySelector('.choice').focus({ preventScroll: true });
  });
  $('lesson-go').replaceChildren(go);
  return go;
}
for (const change of ['scroll', 'resize', 'toggle'])
  addEventListener(change, () => { const step = lesson && lesson.steps[lesson.next]; if (step && step.show) step.show(); }, { capture: true, passive: true });

/* The remaining lines of a step. */
async function runStep(step) {
  const mine = lesson, rest = step.lines.slice(step.taken.length);
  let wrong = null;
  $('lesson-go').replaceChildren();
  step.shown.replaceChildren(...step.taken.flatMap(t => t.shown));
  const answer = await runLines(rest, (a, line) => {
    step.shown.append(...shownOf(a, line));
    if (a.status) wrong = line;
    return !a.status;
  });
  if (mine !== lesson) return;
  if (wrong) {
    const again = make('button', { type: 'button', class: 'primary', text: 'Run the lesson up to here again', on: repeat });
    step.box.append(make('p', { class: 'notice', text: `"${wrong}" did not go as the lesson says, because something was changed in between.` }), make('p', {}, again));
    again.focus();
    return;
  }
  if (answer || !step.lines.length) lesson.next++;
  showStep();
}

const asSteps = lines => lines.map(line => `> ${line}`).join('\n');

/* The next step: its texts at once, its lines on request. */
function showStep() {
  const step = lesson.steps[lesson.next];
  document.querySelectorAll('.step.now').forEach(e => e.classList.remove('now'));
  if (!step) { endLesson(); return; }
  const box = make('div', { class: 'step now' }, ...step.texts.flatMap(paragraphs));
  step.taken = [];
  step.box = box;
  step.shown = make('pre', { class: 'calls', text: asSteps(step.lines) });
  step.read = step.lines.length ? step.shown : box;
  step.open = !step.question;
  const go = goOf(step, () => runStep(step));
  if (step.question) {
    step.shown.hidden = true; /* it gives the answer away */
    const first = step.first = make('p', { class: 'soft first', text: 'Answer the question first.' });
    const after = make('div', { hidden: '' }, ...step.after.flatMap(paragraphs)); /* it reveals the answer */
    step.asked = question(step, () => { step.open = true; first.remove(); after.hidden = step.shown.hidden = false; step.show(); go.focus({ preventScroll: true }); });
    box.append(step.asked, first, after);
  }
  step.draw = () => {
    step.shown.hidden = false;
    step.shown.replaceChildren(...step.taken.flatMap(t => t.shown), asSteps(step.lines.slice(step.taken.length)));
  };
  if (step.lines.length) box.append(step.shown);
  $('lesson-steps').append(box);
  const before = box.previousElementSibling, calls = before && before.querySelector('.calls');
  (calls || box).scrollIntoView({ block: calls ? 'start' : 'nearest' });
  step.show();
  if (lesson.next) (go.hidden ? step.asked.querySelector('.choice') : go).focus({ preventScroll: true });
}

/* A line of the lesson with its result, and the explanation if there is one. */
function shownOf(answer, line) {
  return [make('b', { text: `> ${line}\n` }), ...coloured(answer.output).childNodes, ...(answer.why ? [whyOf(show())] : [])];
}

/* A step's line counts as run if the user typed an equivalent line, even without its "expect ...:". Undo reverts that. */
function followLesson(line, answer) {
  const step = lesson && lesson.steps[lesson.next];
  if (!step || !step.taken || !step.box.isConnected || !$('lesson-go').firstChild) return;
  const before = step.taken.length, wanted = step.lines[before];
  step.taken = step.taken.filter(t => t.lines <= state.lines);
  if (step.taken.length === before && wanted && !answer.status && (api.web_same(line, wanted) || api.web_same(line, wanted.replace(/^expect [^:]*:/, ''))))
    step.taken.push({ shown: shownOf(answer, wanted), lines: state.lines });
  if (step.taken.length === before) return;
  step.draw();
  if (step.taken.length < step.lines.length) return;
  lesson.next++;
  showStep();
  $('line').focus({ preventScroll: true });
}

/* The pending question, if there is one: letters choose an answer, and continuing leads there. */
function openQuestion() {
  const step = lesson && !$('lessons').hidden && lesson.steps[lesson.next];
  return step && step.asked && !step.open && step.asked.isConnected ? step : null;
}
function chooseByKey(letter) {
  const step = openQuestion(), choice = step && step.asked.contains(document.activeElement) && step.asked.querySelectorAll('.choice')['abcdef'.indexOf(letter)];
  if (choice) choice.click();
  return !!choice;
}
function toQuestion() {
  const step = openQuestion();
  if (!step) return false;
  step.first.classList.add('notice');
  step.asked.scrollIntoView({ block: 'nearest' });
  step.asked.querySelector('.choice').focus({ preventScroll: true });
  say('Answer the question first.');
  return true;
}

/* On a new machine, without the lines typed in between. */
async function repeat() {
  const mine = lesson, next = lesson.next;
  document.querySelector('.step.now').remove();
  open('');
  await runLines(lesson.steps.slice(0, next).flatMap(s => s.lines));
  if (mine === lesson) showStep();
}

function endLesson() {
  const all = api.web_lessons(), here = all.findIndex(l => l.number === lesson.number), next = all[here + 1];
  const box = make('div', { class: 'step now' }, make('p', { text: `That was the lesson. You answered ${lesson.right} of ${lesson.asked} questions at the first try.` }));
  $('lesson-go').replaceChildren(...(next ? [make('button', { type: 'button', class: 'primary next', text: `Lesson ${next.number}: ${next.title}`, on: () => openLesson(next.number) })] : []));
  $('lesson-steps').append(box);
  box.scrollIntoView({ block: 'nearest' });
  const button = $('lesson-go').firstChild;
  if (button) button.focus({ preventScroll: true });
}

/* The pages' Markdown: headings, paragraphs, tables, blocks of code. */
function markdown(text) {
  const out = [];
  let rows = null, run = [], code = null, list = null;
  const inline = t => words(t.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/\*\*/g, ''));
  const flush = () => { if (run.length) out.push(make('p', {}, ...inline(run.join(' ')))); run = []; rows = list = null; };
  for (const line of text.split('\n')) {
    if (code) { if (line.startsWith('```')) { out.push(make('pre', { text: code.slice(1).join('\n') })); code = null; } else code.push(line); continue; }
    if (line.startsWith('```')) { flush(); code = ['']; }
    else if (/^#+ /.test(line)) { flush(); out.push(make('h3', { text: line.replace(/^#+ /, '') })); }
    else if (line.startsWith('|')) {
      if (!rows) { flush(); rows = make('table'); out.push(rows); }
      if (!/^\|[-| ]+\|$/.test(line)) rows.append(make('tr', {}, ...line.slice(1, -1).split('|').map(cell => make(rows.rows.length ? 'td' : 'th', {}, ...inline(cell.trim())))));
    } else if (line.startsWith('    ')) { flush(); out.push(make('pre', { text: line.slice(4) })); }
    else if (/^(-|\d+\.) /.test(line)) { if (!list) { flush(); list = make('ul'); out.push(list); } list.append(make('li', {}, ...inline(line.replace(/^(-|\d+\.) /, '')))); }
    else if (list && line.startsWith('  ')) list.lastChild.append(' ', ...inline(line.trim()));
    else if (!line.trim()) flush();
    else { if (list || rows) flush(); run.push(line); }
  }
  flush();
  return out;
}

/* ---- exercises ---- */

let exercise = null;
function openExercise(number) {
  const found = api.web_exercise(number);
  if (!found.title) return false;
  tab('exercises');
  exercise = found;
  $('exercise-list').hidden = $('exercise-about').hidden = true;
  $('exercise').hidden = false;
  $('exercise-title').textContent = `${number}. ${found.title}`;
  $('exercise-task').replaceChildren(...paragraphs(found.task), make('p', { class: 'soft', text: `Checked on ${found.machines.join(', ')}.` + (found.forbid.length ? ` Not to be used: ${found.forbid.join(', ')}.` : '') }));
  $('exercise-given').textContent = found.given;
  $('exercise-lines').value = found.start;
  $('exercise-output').hidden = true;
  $('exercise-result').textContent = '';
  setFragment(`#exercise=${number}`);
  runExercise();
  $('exercise-title').focus();
  return true;
}
function closeExercise() {
  if (!exercise) return;
  exercise = null;
  $('exercise').hidden = true;
  $('exercise-list').hidden = $('exercise-about').hidden = false;
  setFragment('');
}
/* The lines typed after the given ones. */
function exerciseChanged() {
  if (!exercise || exercise.busy || document.activeElement === $('exercise-lines')) return;
  const given = linesOf(exercise.given), all = session;
  if (given.every((line, i) => all[i] === line)) $('exercise-lines').value = all.slice(given.length).map(l => l + '\n').join('');
}
async function runExercise() {
  const mine = exercise, lines = linesOf($('exercise-lines').value);
  exercise.busy = true;
  if (session.length && exercise.began) mine = 0; /* the exercise contains the lines */
  exercise.began = true;
  open('');
  await runLines(linesOf(exercise.given).concat(lines));
  mine.busy = false;
}
function gradeExercise() {
  const result = api.web_grade(exercise.number, $('exercise-lines').value);
  $('exercise-result').textContent = `${result.points} of ${result.of} points` + (result.points === result.of ? ': solved.' : '. The first "not ok" says what is wrong:');
  $('exercise-output').replaceChildren(coloured(result.output));
  $('exercise-output').hidden = false;
}

function startLessons() {
  $('lesson-list').replaceChildren(...api.web_lessons().map(l => make('li', {}, make('button', { type: 'button', on: () => openLesson(l.number) }, make('span', { class: 'n', text: l.number }), l.title))));
  $('exercise-list').replaceChildren(...api.web_exercises().map(e => make('li', {}, make('button', { type: 'button', text: `${e.number}. ${e.title}`, on: () => openExercise(e.number) }))));
  $('first-lesson').addEventListener('click', () => openLesson(1));
  $('lesson-close').addEventListener('click', closeLesson);
  $('lesson-again').addEventListener('click', () => openLesson(lesson.number));
  $('exercise-close').addEventListener('click', closeExercise);
  $('exercise-run').addEventListener('click', runExercise);
  $('exercise-grade').addEventListener('click', gradeExercise);
}
