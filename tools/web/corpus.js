// SPDX-License-Identifier: Apache-2.0
// node corpus.js MODULE FOLDER: the output of the WebAssembly module, for web_corpus_test, which compares it with the
// native output. Reads one request per line, and replies to each with a line "SIZE" and that many bytes:
//
//     run NAME FILE       a script                     pair ID FORM       a form of a rule's example: broken, corrected
//     lesson NUMBER a lesson, all at once page NUMBER the data for a lesson's page
//     grade N KIND FILE   an exercise on these lines   rule ID            the article of the rule book
//     call NAME           a function without arguments
//     session FILE runs each of its lines in the shell, and prints everything that the page shows after it
//
// FOLDER is where FILEs are read from. The reply to a request that crashes the module is a line that begins with "TRAP".
'use strict';
const fs = require('fs'), path = require('path');
if (!globalThis.crypto) globalThis.crypto = require('crypto').webcrypto; /* before node 19 */
const Cuvmm = require('./module.js');
const [, , modulePath, folder] = process.argv;
const read = name => new Uint8Array(fs.readFileSync(path.join(folder, name)));

const requests = {
  run: (api, name, file) => api.run(name, read(file)),
  lesson: (api, number) => api.web_lesson_all(Number(number)),
  page: (api, number) => api.web_lesson.raw(Number(number)),
  rule: (api, id) => api.web_rule(id) + api.web_explain(id),
  grade: (api, number, file) => api.web_grade.raw(Number(number), new TextDecoder().decode(read(file))),
  call: (api, name) => api[name].raw(),
  pair: (api, id, form) => {
    const pair = api.web_pair(id);
    if (pair.machine) api.web_file_put('my.profile', pair.machine, Buffer.byteLength(pair.machine));
    return api.run('example', new TextEncoder().encode(pair[form]));
  },
  session: (api, file) => {
    const said = [api.web_open.raw('', 100)];
    for (const line of new TextDecoder().decode(read(file)).split('\n'))
      said.push(line, api.web_complete.raw(line), api.web_line.raw(line), api.web_show.raw(720));
    return said.concat([0, 1, 2, 3].map(form => api.web_text(form))).join('\n');
  }
};

async function main() {
  const compiled = await WebAssembly.compile(fs.readFileSync(modulePath));
  const fresh = () => Cuvmm.open(compiled, (stream, text) => process.stderr.write(text));
  let api = await fresh();
  for (const line of fs.readFileSync(0, 'utf8').split('\n').filter(l => l)) {
    const [kind, ...words] = line.split(' ');
    let answer;
    try {
      answer = requests[kind](api, ...words);
    } catch (error) {
      answer = `TRAP ${error.message}\n`;
      api = await fresh();
    }
    const bytes = Buffer.from(answer);
    fs.writeSync(1, `${bytes.length}\n`);
    for (let at = 0; at < bytes.length;)
      try {
        at += fs.writeSync(1, bytes, at);
      } catch (error) { /* a pipe that is full */
        if (error.code !== 'EAGAIN') throw error;
      }
  }
}
main().catch(error => { process.stderr.write(`${error.stack}\n`); process.exit(1); });
