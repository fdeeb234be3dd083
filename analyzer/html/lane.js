// One lane of the timeline, drawn on a canvas: only what is in view and wide enough to be seen.
const ROW = 22, NARROWEST = 1.5, MOST_LEVELS = 14, MOST_IN_SLIVER = 64, CHARACTER = 6.7;

class Lane {
  constructor(name, data, show) {
    Object.assign(this, {name, data, show, from: 0, to: data.total, chosen: -1, folded: new Set()});
    this.canvas = el('canvas', {tabindex: 0, role: 'application', 'aria-label': `${name}: nested blocks. Arrow keys ` +
      'move, Enter zooms to a block, Escape zooms out, F folds a loop.',
      onclick: e => this.click(e), ondblclick: e => this.zoomTo(this.at(e)), onkeydown: e => this.key(e),
      onwheel: e => this.wheel(e), onpointermove: e => this.drag(e), onfocus: () => this.focus()});
    this.hidden = el('span', {class: 'dim', 'aria-live': 'polite'});
    const button = (text, label, run) =>
      el('button', {type: 'button', 'aria-label': `${label}: ${name}`, title: label, onclick: run}, text);
    this.toggle = button('\u25be', 'Collapse', () => this.collapse());
    this.element = el('div', {class: 'lane'},
      el('div', {class: 'lane-head'}, this.toggle, el('b', {}, name), this.hidden, el('span', {class: 'push'}),
        button('+', 'Zoom in', () => this.scale(0.5)), button('\u2212', 'Zoom out', () => this.scale(2)),
        button('All', 'Show all', () => this.window(0, data.total))),
      this.canvas);
  }
  collapse() {
    this.canvas.hidden = !this.canvas.hidden;
    this.canvas.style.display = this.canvas.hidden ? 'none' : '';
    this.toggle.textContent = this.canvas.hidden ? '\u25b8' : '\u25be';
    this.draw();
  }
  window(from, to) {
    const total = this.data.total, span = Math.min(Math.max(to - from, total * 1e-9), total);
    this.from = Math.min(Math.max(from, 0), total - span);
    this.to = this.from + span;
    this.draw();
  }
  scale(factor, middle = (this.from + this.to) / 2) {
    this.window(middle - (middle - this.from) * factor, middle + (this.to - middle) * factor);
  }
  zoomTo(position) {
    if (position < 0) return;
    this.window(this.data.start[position], this.data.start[position] + this.data.width[position]);
  }
  wheel(event) {
    if (!event.ctrlKey && !event.shiftKey) return;  // the page scrolls
    event.preventDefault();
    const delta = event.deltaY || event.deltaX;
    this.scale(delta > 0 ? 1.25 : 0.8, this.value(event));
  }
  drag(event) {
    if (event.buttons !== 1 || !event.movementX) return;
    const shift = event.movementX / this.canvas.clientWidth * (this.to - this.from);
    this.moved = true;
    this.window(this.from - shift, this.to - shift);
  }
  value(event) {
    return this.from + event.offsetX / this.canvas.clientWidth * (this.to - this.from);
  }
  at(event) {
    const d = this.data, row = Math.floor(event.offsetY / ROW), x = this.value(event);
    for (let i = 0; i < d.depth.length;) {
      const inside = x >= d.start[i] && x < d.start[i] + d.width[i];
      if (!inside) { i = d.next[i]; continue; }
      if (d.depth[i] === row || (this.folded.has(i) && d.depth[i] < row)) return i;
      i++;
    }
    return -1;
  }
  click(event) {
    if (this.moved) { this.moved = false; return; }
    this.choose(this.at(event));
  }
  choose(position) {
    if (position < 0) return;
    this.chosen = position;
    this.draw();
    this.show(this, position);
  }
  focus() {
    if (this.chosen < 0 && this.data.depth.length > 0) this.choose(0);
  }
  neighbour(forward) {
    const d = this.data, depth = d.depth[this.chosen];
    if (forward) return d.next[this.chosen] < d.depth.length && d.depth[d.next[this.chosen]] === depth ?
      d.next[this.chosen] : -1;
    for (let i = this.chosen - 1; i >= 0 && d.depth[i] >= depth; i--) if (d.depth[i] === depth) return i;
    return -1;
  }
  inner() {
    const i = this.chosen + 1;
    return i < this.data.depth.length && this.data.depth[i] > this.data.depth[this.chosen] ? i : -1;
  }
  fold(position) {
    if (position < 0 || this.data.next[position] === position + 1) return;
    if (!this.folded.delete(position)) this.folded.add(position);
    this.draw();
  }
  key(event) {
    const moves = {
      ArrowRight: () => this.choose(this.neighbour(true)), ArrowLeft: () => this.choose(this.neighbour(false)),
      ArrowDown: () => this.choose(this.inner()), ArrowUp: () => this.choose(this.data.around(this.chosen)),
      Enter: () => this.zoomTo(this.chosen), Escape: () => this.window(0, this.data.total),
      f: () => this.fold(this.chosen), F: () => this.fold(this.chosen),
      '+': () => this.scale(0.5), '-': () => this.scale(2),
    };
    if (!moves[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    moves[event.key]();
  }
  draw() {
    if (this.canvas.hidden || this.data.total <= 0) return;
    const width = this.canvas.clientWidth || 800, height = ROW * Math.min(Math.max(this.data.levels, 1), MOST_LEVELS);
    const dots = Math.max(1, devicePixelRatio || 1);
    this.canvas.width = width * dots;
    this.canvas.height = height * dots;
    this.canvas.style.height = height + 'px';
    const paint = this.canvas.getContext('2d');
    paint.scale(dots, dots);
    paint.font = '12px system-ui, "DejaVu Sans", sans-serif';
    paint.textBaseline = 'middle';
    const narrow = this.blocks(paint, width);
    const deep = this.data.levels - MOST_LEVELS;
    this.hidden.textContent = [narrow ? `${plural(narrow, 'block')} too narrow to see: zoom in` : '',
      deep > 0 ? `${plural(deep, 'level')} below these not drawn` : ''].filter(Boolean).join('; ');
  }
  // Gives how many blocks in view were not drawn: those that share a pixel with a neighbour.
  blocks(paint, width) {
    const d = this.data, perUnit = width / (this.to - this.from), last = [], colors = laneColors();
    let narrow = 0;
    for (let i = 0; i < d.depth.length;) {
      const left = (d.start[i] - this.from) * perUnit, wide = d.width[i] * perUnit, row = d.depth[i];
      if (left + wide < 0 || left > width) { i = d.next[i]; continue; }
      const crowded = wide < NARROWEST && left < (last[row] || -1);
      const inside = d.next[i] - i;
      if (crowded) { narrow += inside; i = d.next[i]; continue; }
      if (row < MOST_LEVELS) this.block(paint, i, left, Math.max(wide, 1), width, colors);
      last[row] = left + Math.max(wide, 1);
      if (wide < NARROWEST) {
        if (!this.folded.has(i)) this.sliver(paint, i, left, colors);
        narrow += inside - 1;
        i = d.next[i];
      } else i = this.folded.has(i) ? d.next[i] : i + 1;
    }
    return narrow;
  }
  // What is inside a block of one pixel: the widest of each level.
  sliver(paint, position, left, colors) {
    const d = this.data, widest = [];
    for (let i = position + 1; i < Math.min(d.next[position], position + MOST_IN_SLIVER); i++) {
      const row = d.depth[i];
      if (row < MOST_LEVELS && (widest[row] === undefined || d.width[i] > d.width[widest[row]])) widest[row] = i;
    }
    widest.forEach((i, row) => {
      paint.fillStyle = colors[this.look(i)];
      paint.fillRect(left, row * ROW + 1, 1, ROW - 2);
    });
  }
  look(position) {
    const block = this.data.index[position], {kind, ref} = this.data.track;
    if (kind[block] === CALL) return this.data.timeline.shapes[ref[block]].role;
    return kind[block] === LOOP ? 'loop' : 'stretch';
  }
  block(paint, i, left, wide, width, colors) {
    const look = this.look(i);
    const x = Math.max(left, 0), right = Math.min(left + wide, width), top = this.data.depth[i] * ROW;
    paint.fillStyle = colors[look];
    paint.fillRect(x, top + 1, Math.max(right - x - (wide > 3 ? 1 : 0), 0.8), ROW - 2);
    if (i === this.chosen) {
      paint.strokeStyle = colors.accent;
      paint.lineWidth = 2;
      paint.strokeRect(x + 1, top + 2, Math.max(right - x - 3, 1), ROW - 4);
    }
    const room = Math.floor((right - x - 10) / CHARACTER);
    if (room < 4) return;
    paint.fillStyle = ['loop', 'stretch', 'other', 'wait'].includes(look) ? colors['on-pale'] : colors.on;
    const mark = look === 'loop' ? (this.folded.has(i) ? '\u25b8 ' : '\u25be ') : '';
    paint.fillText(shortened(mark + blockName(this.data, i), room), x + 5, top + ROW / 2 + 0.5);
  }
}
function laneColors() {
  const names = ['h2d', 'd2h', 'd2d', 'kernel', 'wait', 'build', 'other', 'loop', 'stretch', 'accent', 'on', 'on-pale'];
  return Object.fromEntries(names.map(n => [n, color(n)]));
}
