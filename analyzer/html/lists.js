// Tables and lists of what else is known: allocations, functions, remote devices, losses.
const time = (title, key, more) => ({title, value: r => r[key], text: r => r[key] ? timeText(r[key]) : '-', number: true, ...more});
const bytes = (title, key) => ({title, value: r => r[key], text: r => r[key] ? bytesText(r[key]) : '-', number: true});
const number = (title, key) => ({title, value: r => r[key], text: r => countText(r[key]), number: true});

function placeText(site) {
  if (site.function) return site.function + (site.file ? ` (${site.file.split('/').pop()}:${site.line})` : '');
  return site.module ? `${site.module.split('/').pop()}+0x${site.offset.toString(16)}` : '?';
}
function sourceName(s) {
  if (!s.call) return s.kind + (s.site.module ? ` of ${s.site.module.split('/').pop()}` : '');
  return [s.site, ...(s.site.around || [])].map(placeText).join(' < ');
}
function showAllocations(report) {
  const rows = report.allocations.concat(report.other_sources);
  if (rows.length === 0) {
    section('allocations', 'Transfers', el('p', {}, 'No transfer between host memory and a device was recorded.'));
    return;
  }
  const table = new Table({name: 'Memory that feeds transfers', rows, sort: 8, columns: [
    {title: 'Where', value: sourceName}, {title: 'By', value: s => s.call || '-', class: 'nowrap'},
    number('Allocations', 'count'), bytes('Largest', 'max_bytes'), number('Transfers', 'transfers'),
    {title: 'Each', value: s => s.transfers_each || 0, text: s => s.count ? String(Number((s.transfers_each || 0).toPrecision(3))) : '-', number: true},
    bytes('To device', 'h2d'), bytes('From device', 'd2h'), time('Time', 'time_ns', {share: true}),
    {title: 'Speed', value: s => s.time_ns ? (s.h2d + s.d2h) / s.time_ns : 0, text: s => speedText(s.h2d + s.d2h, s.time_ns), number: true}]});
  section('allocations', 'Transfers', el('p', {class: 'note'},
    'Where the program allocates the host memory that it sends to devices or receives from them.'), table.element);
}
function showFunctions(functions) {
  if (functions.length === 0) return;
  const table = new Table({name: 'Functions', rows: functions, sort: 2, columns: [
    {title: 'Function', value: f => f.name}, number('Calls', 'calls'), time('Host time', 'host_ns', {share: true}),
    {title: 'Each', value: f => f.calls ? f.host_ns / f.calls : 0, text: f => f.host_ns ? timeText(f.host_ns / f.calls) : '-', number: true},
    time('Device time', 'device_ns'), bytes('Bytes', 'bytes'), number('Failed', 'failed'), number('Places', 'places')]});
  section('functions', 'Functions', el('p', {class: 'note'},
    'All recorded functions. Memory calls and callbacks are counted, not timed.'), table.element);
}
function showRemote(remote) {
  section('remote', 'Remote devices', remote.eligible ?
    el('p', {}, 'Nothing that the program uses ties it to devices of its own machine.') :
    [el('p', {}, 'The program cannot run on remote devices. It uses:'),
      el('ul', {}, remote.reasons.map(reason => el('li', {}, typeof reason === 'string' ? reason : reason.reason || JSON.stringify(reason))))]);
}
function showLosses(report) {
  if (report.lost.length === 0) return;
  section('losses', 'Not in the trace', el('ul', {}, report.lost.map(text => el('li', {}, text))));
}
function showNext(report) {
  const program = report.program || 'PROGRAM';
  section('next', 'Next', el('p', {}, report.eligible ?
    ['Run the program with its profile', report.profile ? ` (${report.profile})` : '', ': ', el('code', {class: 'mono'}, `goptimize run ${program} ARGS...`)] :
    [el('code', {class: 'mono'}, `goptimize run ${program}`), ' would leave the program as it is: there is too little to gain.']));
}
