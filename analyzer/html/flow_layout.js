// Where the parts of the flow graph stand: columns from allocations over transfers and device memory to kernels, and
// back. Device memory that is both read and written stands on both sides of the kernels.
const COLUMNS = ['Host memory', 'Sent by', 'Device memory', 'Used by', 'Device memory', 'Received by', 'Host memory'];
const BOX = {width: 152, least: 54, gap: 10, top: 26, span: 1360, tall: 400};

// The columns that an edge joins, by what is at its ends.
function columnsOf(nodes, edge) {
  const from = nodes[edge.from], to = nodes[edge.to];
  if (from.kind === 'host_memory') return [0, 1];
  if (to.kind === 'host_memory') return [5, 6];
  if (from.kind === 'transfer') return from.what === 'h2d' ? [1, 2] : [3, 4];
  if (to.kind === 'transfer') return to.what === 'd2h' ? [4, 5] : [2, 3];
  return to.kind === 'kernel' ? [2, 3] : [3, 4];
}

class FlowLayout {
  constructor(flows, most) {
    this.flows = flows;
    this.columns = COLUMNS.map(() => new Map());  // by node
    this.ribbons = flows.edges.map(edge => this.ribbon(edge));
    this.loners();
    this.merge(most);
    this.keepUnchanged();
    this.order();
    this.place();
  }
  box(column, node) {
    const boxes = this.columns[column];
    if (!boxes.has(node)) boxes.set(node, {column, nodes: [node], into: [], out: [], weight: 0});
    return boxes.get(node);
  }
  ribbon(edge) {
    const [from, to] = columnsOf(this.flows.nodes, edge);
    const atMost = [edge.from, edge.to].some(n => this.flows.nodes[n].kind === 'kernel');
    return {from: this.box(from, edge.from), to: this.box(to, edge.to), edge, atMost};
  }
  loners() {  // transfers and kernels that name no memory
    const seen = new Set(this.columns.flatMap(boxes => [...boxes.keys()]));
    this.flows.nodes.forEach((node, i) => {
      if (seen.has(i)) return;
      const column = node.kind === 'transfer' ? (node.what === 'h2d' ? 1 : node.what === 'd2h' ? 5 : 3) :
        node.kind === 'kernel' ? 3 : 0;
      this.box(column, i);
    });
  }
  weigh(box) {
    const node = this.flows.nodes[box.nodes[0]];
    if (node.kind === 'kernel') return node.time_ns;
    return node.bytes + node.time_ns * 1e-6;  // time decides between equals
  }
  merge(most) {  // the smallest boxes of a column become one
    this.columns = this.columns.map(boxes => {
      const list = [...boxes.values()].sort((a, b) => this.weigh(b) - this.weigh(a));
      if (list.length <= most + 1) return list;
      const rest = {column: list[0].column, nodes: [], into: [], out: [], rest: true};
      for (const box of list.splice(most)) { rest.nodes.push(...box.nodes); box.merged = rest; }
      return [...list, rest];
    });
    const joined = new Map();
    for (const r of this.ribbons) {
      const from = r.from.merged || r.from, to = r.to.merged || r.to;
      const key = `${this.columns[from.column].indexOf(from)} ${this.columns[to.column].indexOf(to)} ${from.column}`;
      const old = joined.get(key);
      if (!old) joined.set(key, {from, to, atMost: r.atMost, edges: [r.edge]});
      else old.edges.push(r.edge);
    }
    this.ribbons = [...joined.values()];
    for (const r of this.ribbons) {
      r.bytes = r.edges.reduce((sum, e) => sum + e.bytes, 0);
      r.from.out.push(r);
      r.to.into.push(r);
    }
  }
  keepUnchanged() {  // device memory that is sent and received, and that no kernel writes in between
    for (const after of this.columns[4]) {
      if (after.into.length > 0 || after.rest) continue;
      const before = this.columns[2].find(b => b.nodes[0] === after.nodes[0]);
      if (before) this.ribbons.push({from: before, to: after, kept: true, edges: [], bytes: 0});
    }
  }
  order() {  // a few sweeps, each box near the middle of what it is joined to
    for (let sweep = 0; sweep < 6; sweep++) {
      const side = sweep % 2 ? 'out' : 'into', other = sweep % 2 ? 'to' : 'from';
      const columns = sweep % 2 ? this.columns.slice().reverse() : this.columns;
      for (const boxes of columns) {
        const middle = new Map(boxes.map((box, i) => {
          const joined = box[side].map(r => this.columns[r[other].column].indexOf(r[other]));
          return [box, joined.length ? joined.reduce((a, b) => a + b, 0) / joined.length : i];
        }));
        boxes.sort((a, b) => Boolean(a.rest) - Boolean(b.rest) || middle.get(a) - middle.get(b));
      }
    }
  }
  place() {
    const used = this.columns.filter(boxes => boxes.length > 0);
    const step = used.length > 1 ? (BOX.span - BOX.width) / (used.length - 1) : 0;
    const sum = (boxes, side, atMost) => boxes.reduce((total, box) => total + box[side].reduce(
      (s, r) => s + (r.kept || r.atMost !== atMost ? 0 : r.bytes), 0), 0);
    const scale = atMost => BOX.tall / Math.max(1,
      ...used.map(boxes => Math.max(sum(boxes, 'into', atMost), sum(boxes, 'out', atMost))));
    const scales = {exact: scale(false), atMost: scale(true)};
    for (const r of this.ribbons) {
      r.width = r.kept ? 2 : Math.max(1.5, r.bytes * (r.atMost ? scales.atMost : scales.exact));
    }
    this.height = 0;
    used.forEach((boxes, column) => {
      let y = BOX.top;
      for (const box of boxes) {
        const total = side => box[side].reduce((s, r) => s + r.width, 0);
        Object.assign(box, {x: column * step, y, height: Math.max(BOX.least, total('into'), total('out')) + 4});
        y += box.height + BOX.gap;
      }
      this.height = Math.max(this.height, y);
    });
    for (const boxes of used) {  // short columns stand in the middle
      const end = boxes[boxes.length - 1], shift = (this.height - (end.y + end.height + BOX.gap)) / 2;
      for (const box of boxes) box.y += shift;
    }
    this.used = used;
    this.attach('out', 'to', 'y1');
    this.attach('into', 'from', 'y2');
  }
  attach(side, other, key) {
    for (const box of this.used.flat()) {
      const total = box[side].reduce((s, r) => s + r.width, 0);
      let y = box.y + (box.height - total) / 2;
      for (const r of box[side].slice().sort((a, b) => a[other].y - b[other].y)) {
        r[key] = y + r.width / 2;
        y += r.width;
      }
    }
    for (const r of this.ribbons.filter(ribbon => ribbon.kept)) {
      r.y1 = r.from.y + r.from.height - 4;
      r.y2 = r.to.y + r.to.height - 4;
    }
  }
}
