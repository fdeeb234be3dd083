// The head of the report: the dispatch ratio, as a number, as a sentence and as two bars to compare.
function bars(time, minRatio) {
  const longest = Math.max(time.kernel_ns, time.transfer_ns, 1);
  const width = ns => `width: ${(100 * ns / longest).toFixed(2)}%`;
  const sides = Math.max(time.h2d_ns + time.d2h_ns, 1);
  const threshold = Math.min(100, 100 * minRatio * time.kernel_ns / longest);
  return el('div', {class: 'ratio-bars', role: 'img', 'aria-label':
      `Transfers ${timeText(time.transfer_ns)}, kernels ${timeText(time.kernel_ns)}`},
    el('span', {}, 'Transfers'),
    el('div', {class: 'track'},
      el('i', {class: 'fill-h2d', style: width(time.transfer_ns * time.h2d_ns / sides),
        title: `To devices: ${timeText(time.h2d_ns)}`}),
      el('i', {class: 'fill-d2h', style: width(time.transfer_ns * time.d2h_ns / sides),
        title: `From devices: ${timeText(time.d2h_ns)}`}),
      time.kernel_ns > 0 ? el('span', {class: 'threshold', style: `left: ${threshold.toFixed(2)}%`,
        title: `${minRatio} of the kernels' time: from here on a program is eligible`}) : null),
    el('span', {class: 'figure'}, timeText(time.transfer_ns)),
    el('span', {}, 'Kernels'),
    el('div', {class: 'track'}, el('i', {class: 'fill-kernel', style: width(time.kernel_ns)})),
    el('span', {class: 'figure'}, timeText(time.kernel_ns)));
}

function tile(value, label) {
  return el('div', {class: 'tile'}, el('b', {}, value), el('span', {}, label));
}

// Devices, or queues or contexts, which also have a name and a place.
function ratiosTable(what, rows, names) {
  const time = key => ({value: d => d[key], text: d => timeText(d[key]), number: true});
  const ratio = (title, of) => ({title, number: true, text: d => ratioText(of(d).ratio, of(d).transfer_ns),
    value: d => of(d).ratio === null ? (of(d).transfer_ns > 0 ? Infinity : -1) : of(d).ratio});
  return el('details', {}, el('summary', {}, plural(rows.length, what)), new Table({
    name: what[0].toUpperCase() + what.slice(1) + 's', rows, columns: [...names, ratio('Ratio', d => d), ratio('Steady', d => d.steady),
      {title: 'Kernels', ...time('kernel_ns')}, {title: 'Transfers', ...time('transfer_ns')},
      {title: 'To device', ...time('h2d_ns')}, {title: 'From device', ...time('d2h_ns')},
      {title: 'Both at once', ...time('overlap_ns')}]}).element);
}
const ofObject = kind => [{title: kind, value: o => o.name}, {title: 'Where', value: o => placeText(o.site)},
  {title: 'On', value: o => o.devices.join(', ')}];

function showVerdict(report) {
  const time = report.time;
  const sum = key => memories(report).reduce((total, s) => total + s[key], 0);
  const part = section('verdict', 'Verdict',
    el('div', {class: 'verdict'},
      el('div', {class: 'ratio'}, ratioText(report.dispatch_ratio, time.transfer_ns),
        el('small', {}, 'dispatch ratio: transfers for each second in kernels')),
      el('div', {},
        el('span', {class: 'badge ' + (report.eligible ? 'good' : 'bad')},
          report.eligible ? 'worth optimizing' : 'not worth optimizing'),
        el('p', {}, report.explanation))),
    bars(time, report.min_ratio),
    legend([['h2d', 'to devices'], ['d2h', 'from devices'], ['kernel', 'kernels']]));
  for (const key of ['steady', 'estimated', 'untimed']) {
    if (report[key]) part.append(el('p', {class: 'note'}, report[key]));
  }
  part.append(el('div', {class: 'tiles'},
    tile(timeText(report.wall_ns), 'run time'), tile(countText(report.opencl_calls), 'OpenCL calls'),
    tile(bytesText(sum('h2d')), 'sent to devices'), tile(bytesText(sum('d2h')), 'received from devices'),
    tile(countText(report.findings.length), report.findings.length === 1 ? 'finding' : 'findings'),
    tile(report.remote.eligible ? 'yes' : 'no', 'can use remote devices')));
  const tables = [['device', report.devices, [{title: 'Device', value: d => d.device}]],
    ['queue', report.queues, ofObject('Queue')], ['context', report.contexts, ofObject('Context')]];
  for (const [what, rows, names] of tables) {
    if (rows.length > 0) part.append(ratiosTable(what, rows, names));
  }
}
