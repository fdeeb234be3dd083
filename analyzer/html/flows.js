// The data flow as a picture: boxes joined by ribbons as wide as the bytes that went that way.
const DIRECTIONS = {h2d: 'to a device', d2h: 'from a device', d2d: 'inside devices'};

const shortPlace = text => (text.match(/\(([^()]+:\d+)\)/) || [null, text])[1];

// What stands in a box: its name, where it is, its figures.
function nodeLines(node) {
  const name = node.name.split(' < ')[0];
  if (node.kind !== 'host_memory') return [name, shortPlace(node.place), nodeFigures(node)];
  const place = name.match(/^(.*) (\([^()]+\))$/);
  return place ? [place[1].replace(/\(.*\)/, ''), place[2].slice(1, -1), nodeFigures(node)] :
    [name, node.what, nodeFigures(node)];
}
function nodeFigures(node) {
  if (node.kind === 'kernel') return `${countText(node.count)}\u00d7, ${timeText(node.time_ns)}`;
  if (node.kind === 'transfer') return `${countText(node.count)}\u00d7, ${bytesText(node.bytes)}`;
  if (node.kind === 'device_memory') {
    return node.bytes ? (node.count ? '' : 'several of ') + bytesText(node.bytes) : 'size not known';
  }
  return bytesText(node.bytes);
}
function nodeText(node) {  // in full, for the panel
  const place = node.place && node.place !== node.name ? ` at ${node.place}` : '';
  const time = timeText(node.time_ns), size = bytesText(node.bytes);
  if (node.kind === 'kernel') {
    return `Kernel ${node.name}, created${place}: ${plural(node.count, 'launch', 'launches')}, ${time}`;
  }
  if (node.kind === 'transfer') {
    const way = DIRECTIONS[node.what] || '';
    return `${node.name}${place}: ${plural(node.count, 'transfer')} ${way}, ${size}, ${time}, ` +
      speedText(node.bytes, node.time_ns);
  }
  if (node.kind === 'device_memory') {
    return `${node.what} ${node.name}, created${place}: ` + (node.bytes ? size : 'size not known') +
      (node.count ? '' : ' each on average; there are several');
  }
  return `${node.what}: ${node.name}: ${size} in ${plural(node.count, 'transfer')}, ${time}`;
}
function ribbonText(flows, ribbon) {
  if (ribbon.kept) return 'No kernel changes it between being sent and being received.';
  const sum = key => ribbon.edges.reduce((total, e) => total + e[key], 0);
  const name = box => box.rest ? `${box.nodes.length} more` : flows.nodes[box.nodes[0]].name;
  const size = sum('bytes'), what = ribbon.atMost ? `at most ${bytesText(size)} touched (whole buffers)` :
    `${bytesText(size)}, ${timeText(sum('time_ns'))}, ${speedText(size, sum('time_ns'))}`;
  return `${name(ribbon.from)} \u2192 ${name(ribbon.to)}: ${plural(sum('count'), 'time')}, ${what}`;
}

class FlowPicture {
  constructor(flows, most, tell) {
    Object.assign(this, {flows, tell, layout: new FlowLayout(flows, most)});
    const layout = this.layout, height = Math.ceil(layout.height);
    this.paths = layout.ribbons.map(r => this.path(r));
    this.boxes = layout.used.flat().map(box => this.box(box));
    const heads = layout.used.map(boxes =>
      svg('text', {class: 'head', x: boxes[0].x, y: 12}, COLUMNS[boxes[0].column]));
    this.element = el('div', {class: 'flows scroll'},
      svg('svg', {viewBox: `-3 0 ${BOX.span + 6} ${height}`, role: 'group', 'aria-label': 'Data flow'},
        heads, this.paths, this.boxes));
  }
  colorOf(r) {
    if (r.kept) return null;
    if (!r.atMost) return {h2d: 'h2d', d2h: 'd2h'}[this.direction(r)] || 'd2d';
    return r.to.column === 3 ? 'h2d' : 'd2h';
  }
  direction(r) {
    const ends = [r.from, r.to].flatMap(box => box.nodes).map(n => this.flows.nodes[n]);
    return (ends.find(n => n.kind === 'transfer') || {}).what;
  }
  path(r) {
    const x1 = r.from.x + BOX.width, x2 = r.to.x, bend = (x1 + x2) / 2, half = r.width / 2;
    const name = this.colorOf(r);
    const edge = (start, from, to, end) => `${start} ${from} C ${bend} ${from}, ${bend} ${to}, ${end} ${to}`;
    const text = ribbonText(this.flows, r);
    const lower = `L ${edge(x2, r.y2 + half, r.y1 + half, x1)} Z`;
    return svg('path', {class: 'ribbon' + (r.atMost ? ' atmost' : '') + (r.kept ? ' kept' : ''),
      d: `M ${edge(x1, r.y1 - half, r.y2 - half, x2)}` + (r.kept ? '' : lower),
      style: name ? `fill: var(--${name})` + (r.atMost ? `; stroke: var(--${name})` : '') : null,
      onpointerenter: () => this.point([r.from, r.to], [r], text), onpointerleave: () => this.leave()},
      svg('title', {}, text));
  }
  box(box) {
    const node = this.flows.nodes[box.nodes[0]], middle = box.y + box.height / 2;
    const text = box.rest ? `${box.nodes.length} more, each smaller than those above` : nodeText(node);
    const show = () => this.point(this.related(box), box.into.concat(box.out), text);
    const lines = box.rest ? [`${box.nodes.length} more`, '', 'see "Show" above'] : nodeLines(node);
    return svg('g', {class: 'node', tabindex: 0, role: 'img', 'aria-label': text, onpointerenter: show, onfocus: show,
      onpointerleave: () => this.leave(), onblur: () => this.leave()},
      svg('title', {}, text),
      svg('rect', {class: 'box', x: box.x, y: box.y, width: BOX.width, height: box.height, rx: 5}),
      lines.map((line, i) => svg('text', {class: i ? 'sub' : 'name', x: box.x + 8, y: middle - 10 + 15 * i},
        shortened(line, i ? 24 : 21))));
  }
  related(box) {  // its neighbours, and where the same memory stands again
    const near = box.into.map(r => r.from).concat(box.out.map(r => r.to));
    const again = this.layout.used.flat().filter(b => b.nodes.some(n => box.nodes.includes(n)));
    return [box, ...near, ...again];
  }
  point(boxes, ribbons, text) {
    this.tell(text);
    this.element.classList.add('pointing');
    this.layout.used.flat().forEach((box, i) => this.boxes[i].classList.toggle('lit', boxes.includes(box)));
    this.layout.ribbons.forEach((r, i) => this.paths[i].classList.toggle('lit', ribbons.includes(r)));
  }
  leave() {
    this.element.classList.remove('pointing');
  }
}

function flowsTable(flows) {
  const name = i => flows.nodes[i].name, kernel = e => [e.from, e.to].some(i => flows.nodes[i].kind === 'kernel');
  return new Table({name: 'Flows', rows: flows.edges, sort: 2, columns: [
    {title: 'From', value: e => name(e.from)}, {title: 'To', value: e => name(e.to)},
    {title: 'Bytes', value: e => e.bytes, text: e => (kernel(e) ? 'at most ' : '') + bytesText(e.bytes), number: true},
    {title: 'Times', value: e => e.count, text: e => countText(e.count), number: true},
    {title: 'Time', value: e => e.time_ns, text: e => timeText(e.time_ns), number: true}]}).element;
}

function showFlows(flows) {
  if (flows.nodes.length === 0) return;
  const told = el('div', {class: 'details', 'aria-live': 'polite'}), place = el('div', {});
  const idle = 'Point at a box or a ribbon, or move through the boxes with Tab.';
  const select = el('select', {'aria-label': 'Boxes in a column', onchange: () => draw()},
    [[6, '6 largest'], [12, '12 largest'], [40, '40 largest'], [400, '400 largest']].map(
      ([n, text]) => el('option', {value: n, selected: n === 12}, text)));
  section('flow', 'Data flow',
    el('p', {class: 'note'}, 'From the memory that the program allocates, through transfers, device memory and ' +
      'kernels, and back. Solid ribbons are as wide as the bytes that were moved. Dashed ones have a scale of their own: what ' +
      'kernels may touch at most, the whole of each buffer at each launch.'),
    el('div', {class: 'bar'}, el('label', {}, 'Show', select, 'in a column')), place, told,
    legend([['h2d', 'towards kernels'], ['d2h', 'away from them'], ['d2d', 'between device memory']]),
    el('details', {}, el('summary', {}, 'As a table'), flowsTable(flows)));
  const draw = () => {
    told.textContent = idle;
    place.replaceChildren(new FlowPicture(flows, Number(select.value), text => { told.textContent = text; }).element);
  };
  draw();
}
