/* SPDX-License-Identifier: Apache-2.0 */

/* The page in pictures: the strip of the timeline, addresses, rights, links and physical memory. */

/* ---- drawing ---- */

let paint = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  paint = {};
  for (const key of ('card ink soft line faint accent error warn rw r dev0 dev1 dev2 dev3 host team edge').split(' '))
    paint[key] = style.getPropertyValue('--' + key).trim();
}
const placeColour = p => isHost(p) ? paint.host
  : partsOf(p)[0] === 1 ? paint['dev' + partsOf(p)[1] % 4] : paint.faint;

/* A canvas as sharp as the screen. Returns its context and size in the page's units. */
function prepare(canvas, height) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth || canvas.parentElement.clientWidth;
  if (height) canvas.style.height = height + 'px';
  const h = height || canvas.clientHeight;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(h * ratio);
  const g = canvas.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { g, width, height: h };
}

/* Memory in use over the calls; below it problems, refusals high and warnings low. Drawn once; a line shows the moment. */
let stripPicture = null;
function drawStripPicture() {
  const { g, width, height } = prepare($('strip'));
  const x = call => N < 2 ? 0 : call / (N - 1) * (width - 2) + 1, floor = Math.round(height * .7);
  g.fillStyle = paint.card;
  g.fillRect(0, 0, width, height);
  g.beginPath();
  g.moveTo(1, floor);
  const { used, most: mostUsed } = D.strip, parts = used.length;
  used.forEach((bytes, i) => {
    const y = floor - (mostUsed ? bytes / mostUsed : 0) * (floor - 6);
    g.lineTo(x(i * N / parts), y);
    g.lineTo(x(Math.min(N - 1, (i + 1) * N / parts)), y);
  });
  g.lineTo(width - 1, floor);
  g.fillStyle = paint.dev0;
  g.fill();
  g.strokeStyle = paint.line;
  g.strokeRect(.5, .5, width - 1, height - 1);
  const band = height - floor - 3, thin = D.said.call.length > width / 10;
  for (const severity of [1, 2]) {
    const high = severity === 2 ? band : band / 2;
    let last = -1;
    g.fillStyle = severity === 2 ? paint.error : paint.warn;
    D.said.call.forEach((call, i) => {
      const at = Math.round(x(call) * 2);
      if (D.said.severity[i] !== severity || at === last) return;
      g.fillRect(x(call) - (thin ? .5 : 1.5), floor + 2 + band - high, thin ? 1 : 3, high);
      last = at;
    });
  }
  g.fillStyle = paint.soft;
  g.font = '11px system-ui, sans-serif';
  if (height > 40) g.fillText(`memory in use, at most ${size(mostUsed)}`, 6, 14);
  stripPicture = document.createElement('canvas');
  stripPicture.width = $('strip').width;
  stripPicture.height = $('strip').height;
  stripPicture.getContext('2d').drawImage($('strip'), 0, 0);
}
function drawStrip() {
  if (!stripPicture) drawStripPicture();
  const g = $('strip').getContext('2d'), ratio = window.devicePixelRatio || 1, width = $('strip').width / ratio;
  g.drawImage(stripPicture, 0, 0, width, $('strip').height / ratio);
  const x = N < 2 ? 1 : now / (N - 1) * (width - 2) + 1;
  g.fillStyle = paint.ink;
  g.fillRect(x - 1, 0, 2, $('strip').height / ratio);
  g.beginPath();
  g.moveTo(x - 6, 0); g.lineTo(x + 6, 0); g.lineTo(x, 8);
  g.fill();
}

/* Pieces side by side in width: to scale, but none narrower than what can be seen while there is room for that. */
function lay(pieces, width, gap) {
  const parted = pieces.filter((p, i) => i && p.first !== false).length; /* pieces of one stretch of addresses have no gap */
  const total = pieces.reduce((sum, p) => sum + p.size, 0), gaps = gap * parted;
  const least = Math.min(30, Math.max(0, (width - gaps) * .6 / Math.max(1, pieces.length)));
  const scale = total ? Math.max(0, width - gaps - least * pieces.length) / total : 0;
  let x = 0;
  for (const p of pieces) {
    if (p !== pieces[0] && p.first !== false) x += gap;
    p.x = x;
    p.w = least + p.size * scale;
    x += p.w;
  }
}

/* What the call ended, as far as it has addresses: it is drawn once more, as an outline. Of very many only some. */
function endedNow() {
  const ended = [];
  for (let i = touchFirst[now]; i < touchFirst[now + 1] && ended.length < 200; i++)
    if (died[W.touched[i]] === now && hasAddress(W.touched[i])) ended.push(W.touched[i]);
  return ended;
}

/* Stretches of addresses that something covers; what lies between them is left out. */
function islands() {
  const all = endedNow();
  for (const kind of [RESERVATION, MAPPING, ALLOCATION]) all.push(...lists[kind]);
  all.sort((a, b) => O.start[a] - O.start[b]);
  const found = [];
  for (const o of all) {
    const last = found[found.length - 1], end = O.start[o] + O.size[o];
    if (last && O.start[o] <= last.end) last.end = Math.max(last.end, end);
    else found.push({ start: O.start[o], end });
  }
  return folded(found, all);
}

/* The stretches in pieces. An empty piece is the rest of a reservation, and may be a thousand times as long as what is mapped: a long
 * one is drawn as wide as a quarter of all that is covered, with a mark. {start, end, size: to be drawn, first: of its stretch, folded}. */
function folded(found, all) {
  const covered = [];
  for (const o of all) {
    if (O.kind[o] === RESERVATION) continue;
    const last = covered[covered.length - 1], end = O.start[o] + O.size[o];
    if (last && O.start[o] <= last.end) last.end = Math.max(last.end, end);
    else covered.push({ start: O.start[o], end });
  }
  const most = covered.reduce((sum, c) => sum + c.end - c.start, 0) / 4, pieces = [];
  let next = 0;
  const add = (start, end, empty, first) => {
    if (end <= start) return;
    const fold = empty && most > 0 && end - start > 4 * most;
    pieces.push({ start, end, size: fold ? most : end - start, first, folded: fold });
  };
  for (const land of found) {
    let at = land.start, first = true;
    for (; next < covered.length && covered[next].start < land.end; next++) {
      add(at, covered[next].start, true, first);
      first = first && covered[next].start === at;
      add(covered[next].start, covered[next].end, false, first);
      first = false;
      at = covered[next].end;
    }
    add(at, land.end, true, first);
  }
  return pieces;
}

/* Memory by place: a block for each piece, whatever refers to it. Teams stand first, between their mappings and their memory. */
function blocks() {
  const rows = new Map(), byMemory = new Map();
  const row = (key, title) => {
    if (!rows.has(key)) rows.set(key, { title, blocks: [], total: 0 });
    return rows.get(key);
  };
  const placeRow = o => {
    const [type, id] = partsOf(O.place[o]);
    return row(type * 65536 + id, place(O.place[o]));
  };
  const add = (o, r) => {
    const b = { object: o, names: [o], size: O.size[o] || 1 };
    r.blocks.push(b);
    r.total += b.size;
    return b;
  };
  for (const o of [...lists[HANDLE], ...lists[MULTICAST]]) {
    const memory = O.memory[o] < 0 ? o : O.memory[o], team = O.kind[o] === MULTICAST;
    if (byMemory.has(memory)) byMemory.get(memory).names.push(o);
    else byMemory.set(memory, add(o, team ? row(-1, 'team') : placeRow(o)));
  }
  for (const o of lists[ALLOCATION]) byMemory.set(o, add(o, placeRow(o)));
  return { rows: [...rows.entries()].sort((a, b) => a[0] - b[0]).map(e => e[1]), byMemory };
}

let boxes = []; /* what can be pointed at: {x, y, w, h, object} */
const GUTTER = 52, TOP = 8, NAME = 17, BAR = 42, RIGHT = 15, LINKS = 70, BLOCK = 34, GAP = 14;

function box(g, x, y, w, h, options) {
  const { fill, ghost, edge = ghost ? paint.soft : paint.edge, dashed, label, sub, mark, object, ink = paint.ink } = options;
  const left = Math.max(x, GUTTER), right = Math.min(x + w, options.limit);
  if (right < GUTTER || left > options.limit) return;
  const visible = Math.max(1, right - left);
  g.fillStyle = fill;
  if (!ghost) g.fillRect(left, y, visible, h);
  if (w > NARROW) {
    g.strokeStyle = edge;
    g.lineWidth = dashed ? 2 : 1;
    g.setLineDash(dashed ? [5, 3] : ghost ? [2, 4] : []);
    g.strokeRect(left + .5, y + .5, Math.max(0, visible - 1), h - 1);
    g.setLineDash([]);
  }
  for (const [what, at, weight] of [[label, sub ? y + h / 2 - 7 : y + h / 2, '600 '], [sub, y + h / 2 + 7, '']]) {
    if (!what) continue;
    g.font = weight + '11.5px system-ui, sans-serif';
    if (g.measureText(what).width > visible - 5) continue;
    g.fillStyle = ink;
    g.textAlign = 'center';
    g.textBaseline = 'middle';
    g.fillText(what, left + visible / 2, at + .5);
  }
  if (mark) {
    g.strokeStyle = mark === 'error' ? paint.error : paint.accent;
    g.lineWidth = mark === 'error' ? 4 : 3;
    g.strokeRect(left + 1, y + 1, Math.max(2, visible - 2), h - 2);
    if (mark === 'error' && visible > 8) {
      g.lineWidth = 1;
      g.strokeStyle = paint.card;
      g.strokeRect(left + 1, y + 1, visible - 2, h - 2);
    }
  }
  boxes.push({ x: left, y, w: visible, h, object });
}

const markOf = o => (saidOf.get(now) || {}).object === o ? 'error' : selected === o || born[o] === now ? 'fresh' : null;

function draw() {
  const { rows, byMemory } = blocks(), lands = islands();
  const canvas = $('canvas'), placesHeight = Math.max(1, rows.length) * (BLOCK + GAP + 4);
  const rightsY = TOP + NAME + BAR + 2, linksY = rightsY + shownGrantees.length * RIGHT, memoryY = linksY + LINKS;
  const { g, width } = prepare(canvas, memoryY + placesHeight + 2);
  const room = Math.max(60, width - GUTTER - 6), limit = width - 4;
  boxes = [];
  shift = Math.max(0, Math.min(shift, room * (zoom - 1)));
  g.clearRect(0, 0, width, memoryY + placesHeight);
  const stretches = lands.filter(l => l.first).length;
  lay(lands, room * zoom, Math.min(14, room * zoom * .3 / Math.max(1, stretches)));
  const addresses = addressScale(lands);
  if (!lands.length && !rows.length) {
    g.fillStyle = paint.soft; g.font = '13px system-ui, sans-serif'; g.textAlign = 'left'; g.textBaseline = 'middle';
    g.fillText('no addresses are reserved and no memory is made yet', GUTTER, TOP + NAME + BAR / 2);
  }
  drawGaps(g, lands, limit);
  const small = drawRanges(g, addresses, limit, rightsY);
  drawFolds(g, lands, limit);
  const spots = placeBlocks(rows, room, memoryY);
  drawLinks(g, addresses, spots, byMemory, linksY, limit);
  drawBlocks(g, rows, spots, limit);
  drawGutter(g, rows, rightsY, memoryY);
  $('too-small').textContent = small ? `${count(small, 'mapping')} too narrow to be told apart here: drawn together, ` +
    '\u00d7 says how many. Zoom in, or see the list.' : '';
  $('zoom-out').disabled = $('zoom-all').disabled = zoom <= 1;
}

/* From an address to its place in the picture. */
function addressScale(lands) {
  return (address, from) => {
    let low = from || 0, high = lands.length;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (lands[middle].start <= address) low = middle;
      else high = middle;
    }
    const land = lands[low];
    return GUTTER - shift + land.x + (address - land.start) / (land.end - land.start) * land.w;
  };
}

function drawGaps(g, lands, limit) {
  g.fillStyle = paint.soft;
  for (let i = 1; i < lands.length; i++) {
    if (!lands[i].first) continue;
    const x = GUTTER - shift + (lands[i - 1].x + lands[i - 1].w + lands[i].x) / 2;
    if (x < GUTTER || x > limit || lands[i].x - lands[i - 1].x - lands[i - 1].w < 6) continue;
    for (const dot of [-3, 0, 3]) g.fillRect(x + dot - .75, TOP + NAME + BAR / 2 - .75, 1.5, 1.5);
  }
}

/* A folded piece: two slanted lines, as where a pipe is cut, and how long it is. */
function drawFolds(g, lands, limit) {
  g.strokeStyle = g.fillStyle = paint.soft;
  g.lineWidth = 1;
  g.font = '11px system-ui, sans-serif';
  g.textAlign = 'center';
  g.textBaseline = 'middle';
  for (const land of lands.filter(l => l.folded)) {
    const left = GUTTER - shift + land.x, x = left + land.w / 2, y = TOP + NAME + BAR / 2;
    if (x - 8 < GUTTER || x + 8 > limit) continue;
    const text = `${size(land.end - land.start)} empty`, roomy = g.measureText(text).width < land.w - 8;
    for (const dx of [-3, 3]) {
      g.beginPath();
      g.moveTo(x + dx + 3, TOP + NAME + 2);
      g.lineTo(x + dx - 3, TOP + NAME + (roomy ? 11 : BAR - 2));
      g.stroke();
    }
    if (roomy) g.fillText(text, x, y + 5);
  }
}

/* Reservations, memory of cuMemAlloc and mappings with their rights. Returns how many mappings were too narrow. */
function drawRanges(g, addresses, limit, rightsY) {
  /* The end of a range belongs to the stretch that its start lies in. */
  const span = o => { const x = addresses(O.start[o]); return [x, addresses(O.start[o] + O.size[o] - 1) - x + 1]; };
  for (const o of lists[RESERVATION]) {
    const [x, w] = span(o);
    box(g, x, TOP + NAME, w, BAR, { fill: paint.faint, object: o, limit, mark: markOf(o) });
    const label = `${name(o)}  ${size(O.size[o])}`, left = Math.max(x, GUTTER), visible = Math.min(x + w, limit) - left;
    g.font = '600 11.5px system-ui, sans-serif';
    const short = g.measureText(label).width <= visible ? label : g.measureText(name(o)).width <= visible ? name(o) : '';
    g.fillStyle = paint.ink; g.textAlign = 'left'; g.textBaseline = 'alphabetic';
    if (short && visible > 0) g.fillText(short, left + 1, TOP + NAME - 4);
  }
  for (const o of lists[ALLOCATION]) {
    const [x, w] = span(o);
    box(g, x, TOP + NAME, w, BAR, { fill: fillOf(o), label: name(o), sub: 'alloc', object: o, limit, mark: markOf(o) });
  }
  const narrow = drawMappings(g, span, limit, rightsY);
  for (const o of endedNow()) {
    const [x, w] = span(o);
    const label = name(o), mark = markOf(o);
    box(g, x, TOP + NAME, w, BAR, { ghost: true, label, sub: 'gone', ink: paint.soft, object: o, limit, mark });
  }
  return narrow;
}

/* Returns how many were too narrow to be drawn alone. */
function drawMappings(g, span, limit, rightsY) {
  const narrow = [], y = TOP + NAME + 3, h = BAR - 6;
  for (const o of lists[MAPPING]) {
    const [x, w] = span(o);
    if (x + w < GUTTER || x > limit) continue;
    if (w < NARROW) {
      narrow.push({ object: o, x, w });
      continue;
    }
    const sub = O.handle[o] >= 0 ? name(O.handle[o]) : undefined;
    box(g, x, y, w, h, { fill: fillOf(o), label: name(o), sub, object: o, limit, mark: markOf(o) });
    drawRights(g, changed(o, now).rights, x, w, rightsY, limit);
  }
  for (const cell of drawNarrow(g, narrow, y, h, limit, 'mapping')) drawShares(g, cell, rightsY, limit);
  return narrow.length;
}

const fillOf = o => O.kind[o] === MULTICAST || (O.handle[o] >= 0 && O.kind[O.handle[o]] === MULTICAST) ? paint.team
  : placeColour(O.place[o]);

/* What is too narrow to be seen alone is drawn by cells of the page, so that a cell shows all that is in it. */
const CELL = 36;
function cellsOf(narrow) {
  const cells = [];
  for (const n of narrow) {
    const at = Math.floor((n.x - GUTTER) / CELL), last = cells[cells.length - 1];
    if (last && last.at === at && n.x <= last.right + 2) {
      last.objects.push(n.object);
      last.right = Math.max(last.right, n.x + n.w);
    } else cells.push({ at, x: n.x, right: n.x + n.w, objects: [n.object] });
  }
  return cells;
}

/* All of them by cells, and over these the ones that are marked. Returns the cells. */
function drawNarrow(g, narrow, y, h, limit, what) {
  const cells = cellsOf(narrow);
  for (const cell of cells) drawCell(g, cell, y, h, limit, what);
  for (const { object, x, w } of narrow) {
    const mark = markOf(object);
    if (mark) box(g, x, y, w, h, { fill: fillOf(object), object, limit, mark });
  }
  return cells;
}

/* How many they are, and in what share of which colour. */
function drawCell(g, cell, y, h, limit, what) {
  const x = Math.max(cell.x, GUTTER), w = Math.max(1, Math.min(cell.right, limit) - x), n = cell.objects.length;
  const shares = new Map();
  for (const o of cell.objects) shares.set(fillOf(o), (shares.get(fillOf(o)) || 0) + 1);
  let top = y;
  for (const [colour, share] of [...shares].sort((a, b) => a[0] < b[0] ? -1 : 1)) {
    g.fillStyle = colour;
    g.fillRect(x, top, w, h * share / n);
    top += h * share / n;
  }
  g.font = '600 10.5px system-ui, sans-serif';
  g.textAlign = 'center'; g.textBaseline = 'middle'; g.fillStyle = paint.ink;
  if (g.measureText('\u00d7' + n).width < w - 2) g.fillText('\u00d7' + n, x + w / 2, y + h / 2);
  const cluster = `${count(n, what)}, ${name(cell.objects[0])} to ${name(cell.objects[n - 1])}; a click zooms in`;
  boxes.push({ x, y, w, h, object: cell.objects[0], cluster });
}

/* Of the rights in a cell: rw from below, r- on top of it. */
function drawShares(g, cell, y, limit) {
  const x = Math.max(cell.x, GUTTER), w = Math.max(1, Math.min(cell.right, limit) - x), n = cell.objects.length;
  const write = new Map(), read = new Map();
  for (const o of cell.objects)
    for (const [p, value] of changed(o, now).rights) {
      const to = value === 3 ? write : read;
      if (value) to.set(p, (to.get(p) || 0) + 1);
    }
  shownGrantees.forEach((p, i) => {
    const h = RIGHT - 3, bottom = y + i * RIGHT + 1 + h, rw = h * (write.get(p) || 0) / n, r = h * (read.get(p) || 0) / n;
    g.fillStyle = paint.rw;
    g.fillRect(x, bottom - rw, w, rw);
    g.fillStyle = paint.r;
    g.globalAlpha = .45;
    g.fillRect(x, bottom - rw - r, w, r);
    g.globalAlpha = 1;
  });
}

/* The form shows as much as the colour: rw is full, r- a tint with a line below, -- a dotted outline. */
function drawRights(g, rights, x, w, y, limit) {
  const left = Math.max(x, GUTTER), visible = Math.min(x + w, limit) - left;
  if (visible <= 0) return;
  shownGrantees.forEach((p, i) => {
    const value = rights.get(p) || 0, top = y + i * RIGHT + 1, h = RIGHT - 3;
    g.fillStyle = value === 3 ? paint.rw : paint.r;
    if (value === 3) g.fillRect(left + .5, top, Math.max(1, visible - 1), h);
    else if (value === 1) {
      g.globalAlpha = .25;
      g.fillRect(left + .5, top, Math.max(1, visible - 1), h);
      g.globalAlpha = 1;
      g.fillRect(left + .5, top + h - 3, Math.max(1, visible - 1), 3);
    }
    if (visible > NARROW) {
      g.strokeStyle = value === 3 ? paint.rw : value === 1 ? paint.r : paint.line;
      g.lineWidth = 1;
      g.setLineDash(value ? [] : [2, 2]);
      g.strokeRect(left + 1, top + .5, visible - 2, h - 1);
      g.setLineDash([]);
    }
    if (visible < 18) return;
    g.font = '600 10.5px ui-monospace, "DejaVu Sans Mono", monospace';
    g.textAlign = 'center'; g.textBaseline = 'middle';
    g.fillStyle = value === 3 ? paint.card : paint.ink;
    g.fillText(rightsText(value), left + visible / 2, top + h / 2 + .5);
  });
}

/* Physical memory, a row for each place. Returns where each block lies. */
function placeBlocks(rows, room, y) {
  const spots = new Map(), most = rows.reduce((a, r) => Math.max(a, r.total), 1);
  for (const row of rows) {
    row.y = y;
    lay(row.blocks, room * zoom * Math.max(.2, row.total / most), Math.min(3, room * zoom * .2 / Math.max(1, row.blocks.length)));
    for (const b of row.blocks) spots.set(b.object, { x: GUTTER - shift + b.x, w: b.w, y, size: b.size });
    y += BLOCK + GAP + 4;
  }
  return spots;
}

/* A handle that was released, and not retained again. */
const isReleased = o => O.kind[o] !== ALLOCATION && O.released[o] >= 0 && O.released[o] <= now && !changed(o, now).references;

function drawBlocks(g, rows, spots, limit) {
  for (const row of rows) {
    const narrow = [];
    for (const b of row.blocks) {
      const o = b.object, { x, w, y } = spots.get(o);
      if (x + w < GUTTER || x > limit) continue;
      if (w < NARROW) {
        narrow.push({ object: o, x, w });
        continue;
      }
      box(g, x, y, w, BLOCK, {
        fill: fillOf(o), dashed: b.names.every(isReleased), mark: b.names.map(markOf).find(Boolean), object: o, limit,
        label: b.names.map(name).join(' '), sub: O.size[o] ? size(O.size[o]) : '?'
      });
    }
    drawNarrow(g, narrow, row.y, BLOCK, limit, 'piece');
  }
}

/* A line from each mapping to its piece of memory, and from binds to theirs. Of very many only some, evenly chosen. */
function drawLinks(g, addresses, spots, byMemory, y, limit) {
  const every = Math.ceil(lists[MAPPING].length / 600);
  const inView = x => x >= GUTTER && x <= limit;
  const line = (x1, y1, x2, y2, strong, dashed) => {
    if (!inView(x1) && !inView(x2)) return;
    g.strokeStyle = strong ? paint.accent : paint.edge;
    g.lineWidth = strong ? 2.5 : 1;
    g.globalAlpha = strong ? 1 : every > 1 ? .25 : .65;
    g.setLineDash(dashed ? [4, 4] : []);
    g.beginPath();
    g.moveTo(x1, y1);
    g.bezierCurveTo(x1, y1 + (y2 - y1) * .55, x2, y2 - (y2 - y1) * .55, x2, y2);
    g.stroke();
    g.setLineDash([]);
    g.globalAlpha = 1;
  };
  g.save();
  g.beginPath();
  g.rect(GUTTER - 1, 0, limit - GUTTER + 2, 4000);
  g.clip();
  const spotOf = h => { const b = h >= 0 && byMemory.get(O.memory[h] < 0 ? h : O.memory[h]); return b && spots.get(b.object); };
  lists[MAPPING].forEach((o, i) => {
    const strong = o === selected || O.handle[o] === selected || born[o] === now;
    if (i % every && !strong) return;
    const spot = spotOf(O.handle[o]);
    if (!spot) return;
    const x = addresses(O.start[o]), w = addresses(O.start[o] + O.size[o] - 1) - x;
    const part = Math.min(1, (O.offset[o] + O.size[o] / 2) / spot.size);
    line(x + w / 2, y, spot.x + spot.w * part, spot.y, strong);
  });
  for (const [i, o] of lists[BIND].entries()) {
    const team = spotOf(O.handle[o]), memory = spotOf(O.memory[o]);
    if (!team || !memory) continue;
    const from = team.x + team.w * (i + 1) / (lists[BIND].length + 1), strong = o === selected || born[o] === now;
    line(from, team.y + BLOCK, memory.x + memory.w * (O.offset[o] + O.size[o] / 2) / memory.size, memory.y, strong, true);
  }
  g.restore();
}

function drawGutter(g, rows, rightsY, memoryY) {
  g.fillStyle = paint.card;
  g.fillRect(0, 0, GUTTER - 1, 4000);
  g.fillStyle = paint.soft;
  g.textAlign = 'left'; g.textBaseline = 'middle';
  g.font = '11px system-ui, sans-serif';
  shownGrantees.forEach((p, i) => g.fillText(place(p), 0, rightsY + i * RIGHT + RIGHT / 2));
  for (const row of rows) {
    g.font = '600 11.5px system-ui, sans-serif';
    g.fillText(row.title.slice(0, 7), 0, row.y + 9);
    g.font = '10.5px system-ui, sans-serif';
    g.fillText(size(row.total).replace(' ', ''), 0, row.y + 22);
  }
}

/* ---- pointing ---- */

function boxAt(event) {
  const frame = $('canvas').getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
  for (let i = boxes.length - 1; i >= 0; i--) {
    const b = boxes[i];
    if (x >= b.x - 1 && x <= b.x + b.w + 1 && y >= b.y && y <= b.y + b.h) return { ...b, px: x, py: y };
  }
  return null;
}

function showTip(event) {
  const b = boxAt(event), tip = $('tip');
  tip.hidden = !b;
  $('canvas').style.cursor = b ? 'pointer' : '';
  if (!b) return;
  tip.textContent = b.cluster || objectPhrase(b.object);
  const width = $('canvas').clientWidth;
  tip.style.left = Math.max(0, Math.min(b.px + 12, width - 310)) + 'px';
  tip.style.top = Math.min(b.py + 16, $('canvas').clientHeight - tip.offsetHeight - 2) + 'px';
}

function setZoom(value, at) {
  const before = zoom, centre = at === undefined ? ($('canvas').clientWidth - GUTTER) / 2 : at - GUTTER;
  zoom = Math.max(1, Math.min(4096, value));
  shift = (shift + centre) * zoom / before - centre;
  draw();
}
