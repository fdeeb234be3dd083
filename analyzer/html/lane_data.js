// The blocks of one lane of the timeline: a thread's calls, or the commands of one queue among them.
//
// Blocks come in pre-order with their depth. A lane gives each a place on one axis: a leaf is as wide as what is
// measured, a block as wide as what is inside it.
const CALL = 0, LOOP = 1, STRETCH = 2, REST = 3;

class LaneData {
  // measure(shape, calls) -> width. queue: keep only calls through it, and what is around them; null: all.
  constructor(timeline, track, measure, queue) {
    const {depth, kind, ref, times, queue: queues} = track;
    this.timeline = timeline;
    this.track = track;
    this.index = [];  // of the block in the track
    this.depth = [];
    this.start = [];
    this.width = [];
    const open = [];  // positions of the loops around
    let at = 0;
    const close = to => {
      while (open.length > to) {
        const loop = open.pop();
        this.width[loop] = at - this.start[loop];
        if (this.width[loop] === 0) this.drop(loop);
      }
    };
    for (let i = 0; i < depth.length; i++) {
      close(depth[i]);
      if (kind[i] === LOOP) open.push(this.push(i, depth[i], at, 0));
      else {
        while (open.length < depth[i]) open.push(open.length);  // never in a sound trace
        const width = this.leaf(i, kind, ref, times, queues, measure, queue);
        if (width > 0) this.push(i, depth[i], at, width);
        at += width;
      }
    }
    close(0);
    this.total = at;
    this.levels = this.depth.reduce((most, d) => Math.max(most, d + 1), 0);
    this.next = this.ends();
  }
  push(index, depth, start, width) {
    this.index.push(index);
    this.depth.push(depth);
    this.start.push(start);
    this.width.push(width);
    return this.index.length - 1;
  }
  drop(from) {  // an empty loop, and the empty loops in it
    for (const list of [this.index, this.depth, this.start, this.width]) list.length = from;
  }
  leaf(i, kind, ref, times, queues, measure, queue) {
    if (kind[i] === CALL) return queue === null || queues[i] === queue ? measure(ref[i], times[i]) : 0;
    let sum = 0;
    for (const [shape, through, calls] of this.timeline.stretches[ref[i]].calls) {
      if (queue === null || through === queue) sum += measure(shape, calls);
    }
    return sum;
  }
  ends() {  // position after each block and what is inside it
    const next = new Array(this.depth.length), open = [];
    for (let i = 0; i < this.depth.length; i++) {
      while (open.length && this.depth[open[open.length - 1]] >= this.depth[i]) next[open.pop()] = i;
      open.push(i);
    }
    while (open.length) next[open.pop()] = this.depth.length;
    return next;
  }
  around(position) {
    for (let i = position - 1; i >= 0; i--) if (this.depth[i] < this.depth[position]) return i;
    return -1;
  }
}
