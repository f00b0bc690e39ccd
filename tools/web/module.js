/* SPDX-License-Identifier: Apache-2.0 */

/* The WebAssembly module as an object with a method for each function of web.h: texts go in and come out as strings.
 * Used by the page and by the test under node. The module imports four functions and implements everything else itself. */
const Cuvmm = (() => {
  /* The conversion of each result; text by default. */
  const KINDS = {
    web_open: 'json', web_line: 'json', web_show: 'json', web_complete: 'json', web_machines: 'json', web_files: 'json',
    web_lessons: 'json', web_lesson: 'json', web_examples: 'json', web_exercises: 'json', web_exercise: 'json', web_grade: 'json',
    web_rules: 'json', web_pair: 'json', web_file_put: 'number', web_number: 'number', web_same: 'number'
  };
  /* Chromium accepts no more at once. */
  const RANDOM_MOST = 65536;

  /* The module has ended: it is out of memory, or found an internal error. */
  class Ended extends Error {}

  /* compiled: a WebAssembly.Module. print(stream, text): receives output that is not a result. */
  async function open(compiled, print) {
    const encoder = new TextEncoder(), decoder = new TextDecoder(), lines = [new TextDecoder(), new TextDecoder(), new TextDecoder()];
    let memory;
    const bytes = (at, length) => new Uint8Array(memory.buffer, at, length);
    const imports = {
      print: (stream, at, length) => print(stream, lines[stream].decode(bytes(at, length), { stream: true })),
      clock: real => (real ? Date.now() : performance.now()) * 1e6,
      random: (at, length) => {
        for (let done = 0; done < length; done += RANDOM_MOST)
          crypto.getRandomValues(bytes(at + done, Math.min(RANDOM_MOST, length - done)));
      },
      ended: status => { throw new Ended(`the simulator ended with status ${status}`); }
    };
    const { exports } = await WebAssembly.instantiate(compiled, { cuvmm: imports });
    memory = exports.memory;
    exports._initialize();

    const pass = value => {
      const data = typeof value === 'string' ? encoder.encode(value) : value, at = exports.web_alloc(data.length + 1);
      if (!at) throw new Ended('the simulator has no more memory');
      bytes(at, data.length).set(data);
      bytes(at + data.length, 1)[0] = 0;
      return at;
    };
    const text = at => {
      if (!at) return null;
      const all = new Uint8Array(memory.buffer, at);
      return decoder.decode(all.subarray(0, all.indexOf(0)));
    };
    const api = { memory: () => memory.buffer.byteLength };
    for (const [name, code] of Object.entries(exports)) {
      if (!name.startsWith('web_') || name === 'web_alloc' || name === 'web_free') continue;
      const raw = (...values) => {
        const held = [], plain = values.map(v => typeof v === 'number' ? v : held[held.push(pass(v)) - 1]);
        const answer = code(...plain), result = KINDS[name] === 'number' ? answer : text(answer);
        held.forEach(exports.web_free);
        return result;
      };
      api[name] = KINDS[name] === 'json' ? (...values) => JSON.parse(raw(...values)) : raw;
      api[name].raw = raw;
    }
    /* The raw contents of a file of the module. */
    api.file = name => {
      const entry = api.web_files().find(f => f.name === name), held = pass(name), at = exports.web_file(held);
      const copy = entry && at ? bytes(at, entry.size).slice() : null;
      exports.web_free(held);
      return copy;
    };
    api.put = (name, data) => api.web_file_put(name, data, data.length);
    /* Runs a script like `cuvmm run`; data is a Uint8Array. */
    api.run = (name, data) => api.web_run(name, data, data.length);
    return api;
  }
  return { open, Ended };
})();
if (typeof module !== 'undefined') module.exports = Cuvmm;
