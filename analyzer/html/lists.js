// Tables and lists of what else is known: allocations, functions, remote devices, losses.
const column = (title, key, show, more) =>
  ({title, value: r => r[key], text: r => r[key] ? show(r[key]) : '-', number: true, ...more});
const time = (title, key, more) => column(title, key, timeText, more);
const bytes = (title, key) => column(title, key, bytesText);
const number = (title, key) => ({title, value: r => r[key], text: r => countText(r[key]), number: true});

function placeText(site) {
  if (site.function) return site.function + (site.file ? ` (${site.file.split('/').pop()}:${site.line})` : '');
  return site.module ? `${site.module.split('/').pop()}+0x${site.offset.toString(16)}` : '?';
}
const memories = report => report.allocations.concat(report.other_sources);
const speed = (size, ns) => ({title: 'Speed', number: true,
  value: r => speedOf(size(r), r[ns]), text: r => speedText(size(r), r[ns])});

function sourcesTable(rows) {
  const each = s => s.count ? s.transfers_each || 0 : 0;
  return new Table({name: 'Memory that feeds transfers', rows, sort: 8, columns: [
    {title: 'Where', value: s => s.name}, {title: 'By', value: s => s.call || '-', class: 'nowrap'},
    number('Allocations', 'count'), bytes('Largest', 'max_bytes'), number('Transfers', 'transfers'),
    {title: 'Per allocation', value: each, text: s => s.count ? String(Number(each(s).toPrecision(3))) : '-', number: true},
    bytes('To device', 'h2d'), bytes('From device', 'd2h'), time('Time', 'time_ns', {share: true}),
    speed(s => s.h2d + s.d2h, 'time_ns')]}).element;
}
function callsTable(report) {
  const memory = call => report[call.memory.list][call.memory.index];
  return new Table({name: 'Calls that transfer', rows: report.transfers, sort: 6, columns: [
    {title: 'Call', value: c => c.call}, {title: 'Where', value: c => placeText(c.site)},
    {title: 'Direction', value: c => DIRECTIONS[c.direction] || c.direction, class: 'nowrap'},
    {title: 'Memory', value: c => memory(c).name}, number('Times', 'count'), bytes('Bytes', 'bytes'),
    time('Time', 'time_ns', {share: true}), speed(c => c.bytes, 'time_ns')]}).element;
}
function showTransfers(report) {
  const rows = memories(report);
  if (rows.length === 0) {
    section('transfers', 'Transfers', el('p', {}, 'No transfer between host memory and a device was recorded.'));
    return;
  }
  section('transfers', 'Transfers', el('p', {class: 'note'},
    'Where the program allocates the host memory that it sends to devices or receives from them.'),
    sourcesTable(rows), el('h3', {}, 'Calls that transfer'), callsTable(report));
}
function showFunctions(functions) {
  if (functions.length === 0) return;
  const table = new Table({name: 'Functions', rows: functions, sort: 2, columns: [
    {title: 'Function', value: f => f.name}, number('Calls', 'calls'), time('Host time', 'host_ns', {share: true}),
    {title: 'Per call', value: f => f.calls ? f.host_ns / f.calls : 0, number: true,
      text: f => f.host_ns ? timeText(f.host_ns / f.calls) : '-'},
    time('Device time', 'device_ns'), bytes('Bytes', 'bytes'), number('Failed', 'failed'),
    number('Places', 'places')]});
  section('functions', 'Functions', el('p', {class: 'note'},
    'All recorded functions. Memory calls and callbacks are counted, not timed.'), table.element);
}
function showRemote(remote) {
  section('remote', 'Remote devices', remote.eligible ?
    el('p', {}, 'Nothing that the program uses ties it to devices of its own machine.') :
    [el('p', {}, 'The program cannot run on remote devices. It uses:'),
      el('ul', {}, remote.reasons.map(reason => el('li', {}, reason)))]);
}
function showLosses(report) {
  if (report.lost.length === 0) return;
  section('losses', 'Not in the trace', el('ul', {}, report.lost.map(text => el('li', {}, text))));
}
function showNext(report) {
  const run = `goptimize run ${report.program || 'PROGRAM'}`, command = text => el('code', {class: 'mono'}, text);
  const hardly = report.device_share !== null && report.device_share < 0.01;
  section('next', 'Next', el('p', {}, report.eligible && hardly ?
    [command(run), ' would hardly change how long the program runs: the devices work for too little of that.'] :
    report.eligible ?
    ['Run the program with its profile', report.profile ? ` (${report.profile})` : '', ': ',
      command(`${run} ARGS...`)] :
    [command(run), ' would leave the program as it is: there is too little to gain.']));
}
