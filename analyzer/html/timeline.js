// The folded program: a lane for each thread and each queue, and what is known of the chosen block.
const MOST_LANES = 12;

function blockName(data, position) {
  const i = data.index[position], {kind, ref, times} = data.track;
  if (kind[i] === CALL) {
    const shape = data.timeline.shapes[ref[i]];
    return (shape.kernel || shape.function) + (times[i] > 1 ? ` \u00d7${countText(times[i])}` : '');
  }
  if (kind[i] === LOOP) return `loop \u00d7${tripText(times[i], ref[i])}`;
  const calls = data.timeline.stretches[ref[i]].calls.reduce((sum, c) => sum + c[2], 0);
  return kind[i] === REST ? `${countText(data.timeline.stretches[ref[i]].blocks)} more blocks` :
    `${countText(calls)} calls that do not repeat`;
}
function tripText(iterations, entered) {
  const each = iterations / Math.max(entered, 1);
  return Number.isInteger(each) ? countText(each) : `${each.toFixed(1)} on average`;
}

function facts(pairs) {
  return el('dl', {}, pairs.filter(Boolean).map(([name, value]) =>
    el('div', {}, el('dt', {}, name), el('dd', {}, value))));
}
function callFacts(data, i, share) {
  const {ref, times, queue} = data.track, shape = data.timeline.shapes[ref[i]];
  return [el('b', {}, shape.function), shape.kernel ? ` ${shape.kernel}` : '', shape.place ? ` at ${shape.place}` : '',
    facts([['Calls', countText(times[i])], ['Share of the lane', share],
      ['Host time', `${timeText(shape.host_ns * times[i])} (${timeText(shape.host_ns)} each)`],
      shape.device_ns > 0 ? ['Device time',
        `${timeText(shape.device_ns * times[i])} (${timeText(shape.device_ns)} each)`] : null,
      shape.bytes > 0 ? ['Bytes', `${bytesText(shape.bytes * times[i])} (${bytesText(shape.bytes)} each)`] : null,
      shape.bytes > 0 && shape.device_ns > 0 ? ['Speed', speedText(shape.bytes, shape.device_ns)] : null,
      queue[i] >= 0 ? ['Queue', data.timeline.queues[queue[i]]] : null])];
}
function stretchFacts(data, i, share) {
  const most = 12, stretch = data.timeline.stretches[data.track.ref[i]];
  const calls = stretch.calls.slice().sort((a, b) => b[2] - a[2]);
  const list = calls.slice(0, most).map(([shape, , n]) => [data.timeline.shapes[shape].function, countText(n)]);
  if (calls.length > most) list.push(['and', `${calls.length - most} more kinds of call`]);
  return [el('b', {}, stretch.blocks ? `${countText(stretch.blocks)} blocks that take too little time to be kept here` :
    'Calls that do not repeat'), ` (${share} of the lane): calls of each kind`, facts(list)];
}
function loopFacts(data, position, share) {
  const i = data.index[position], {ref, times} = data.track;
  return [el('b', {}, blockName(data, position)), facts([['Iterations', countText(times[i])],
    ['Entered', plural(ref[i], 'time')], ['Share of the lane', share],
    ['Blocks inside', countText(data.next[position] - position - 1)]])];
}
function describeBlock(panel, lane, position) {
  const data = lane.data, i = data.index[position], share = percent(data.width[position] / data.total);
  const what = data.track.kind[i] === CALL ? callFacts(data, i, share) :
    data.track.kind[i] === LOOP ? loopFacts(data, position, share) : stretchFacts(data, i, share);
  panel.replaceChildren(...what.flat());
}

const MEASURES = {
  time: ['Time', (shapes, key) => (s, calls) => shapes[s][key] * calls],
  calls: ['Number of calls', () => (s, calls) => calls],
};

function makeLanes(timeline, measure, show) {
  const lanes = [], by = MEASURES[measure][1];
  timeline.tracks.forEach(track => {
    const data = new LaneData(timeline, track, by(timeline.shapes, 'host_ns'), null);
    const what = measure === 'time' ? `${timeText(data.total)} in OpenCL calls` : plural(data.total, 'OpenCL call');
    lanes.push([`${track.name}: ${what}`, data]);
  });
  timeline.queues.forEach((name, queue) => timeline.tracks.forEach(track => {
    const data = new LaneData(timeline, track, by(timeline.shapes, 'device_ns'), queue);
    const from = timeline.tracks.length > 1 ? `, commands of ${track.name}` : '';
    const what = measure === 'time' ? `${timeText(data.total)} of device time` : plural(data.total, 'call');
    lanes.push([`queue ${name}${from}: ${what}`, data]);
  }));
  return lanes.filter(([, data]) => data.total > 0).map(([name, data]) => new Lane(name, data, show));
}

function showTimeline(timeline) {
  const panel = el('div', {class: 'details', 'aria-live': 'polite'}, el('span', {class: 'dim'}, 'Choose a block.'));
  const place = el('div', {}), select = el('select', {'aria-label': 'Width of blocks', onchange: () => draw()},
    Object.entries(MEASURES).map(([key, [text]]) => el('option', {value: key}, text)));
  const more = el('p', {class: 'note'});
  const part = section('timeline', 'Timeline',
    el('p', {class: 'note'}, 'The program as it was folded: in order of calls, loops around what they repeat. Widths ' +
      'are shares of the time of all executions, not instants. Double click zooms to a block, drag moves, Ctrl and the ' +
      'wheel zoom; with the keyboard: arrows, Enter, Escape, F folds.'),
    el('div', {class: 'bar'}, el('label', {}, 'Width', select)), place,
    legend([['kernel', 'kernel'], ['h2d', 'to device'], ['d2h', 'from device'], ['d2d', 'inside devices'],
      ['wait', 'wait'], ['build', 'build'], ['other', 'other'], ['loop', 'loop'], ['stretch', 'not folded']]),
    more, panel);
  let lanes = [];
  const redraw = () => lanes.forEach(lane => lane.draw());
  const draw = () => {
    const all = makeLanes(timeline, select.value, (lane, position) => describeBlock(panel, lane, position));
    lanes = all.slice(0, MOST_LANES);
    place.replaceChildren(...lanes.map(lane => lane.element));
    more.textContent = [all.length > lanes.length ? `${plural(all.length - lanes.length, 'more lane')} not drawn.` : '',
      timeline.left_out ? `The ${plural(timeline.left_out, 'block')} that take least time are summed up.` : '',
      all.length === 0 ? 'No call of this trace was timed.' : ''].filter(Boolean).join(' ');
    more.hidden = !more.textContent;
    redraw();
  };
  draw();
  themeListeners.push(redraw);
  new ResizeObserver(redraw).observe(place);
  return {element: part, lanes: () => lanes};
}
