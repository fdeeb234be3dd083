// The kernels: a table, and for the chosen one its arguments and its source.
const ACCESS = {none: 'unused', read: 'read', write: 'written', read_write: 'read and written'};

// By value: neither read nor written, whatever the kernel does with it.
const byValue = arg => arg.address_space === 'private';
const markOf = arg => byValue(arg) ? 'none' : arg.access;
const memberText = m => `, what byte ${m.offset} points to: ${ACCESS[m.access]}`;
const argTitle = arg => `${arg.name}: ` +
  (byValue(arg) ? 'passed by value' + (arg.members || []).map(memberText).join('') : ACCESS[arg.access]) +
  (['global', 'private'].includes(arg.address_space) ? '' : ` (${arg.address_space} memory)`);

function argList(kernel) {
  return el('ul', {class: 'args', 'aria-label': 'Arguments'}, kernel.args.map(arg =>
    el('li', {class: 'arg arg-' + markOf(arg), title: arg.type}, el('b', {}, arg.name || `argument ${arg.index}`),
      ' ' + argTitle(arg).slice(arg.name.length + 2))));
}
function kernelDetails(panel, kernel, source) {
  const parts = [el('h3', {}, kernel.name), argList(kernel)];
  if (!kernel.exact && kernel.note) {
    parts.push(el('p', {class: 'note'}, `Accesses are upper bounds: ${kernel.note}`));
  }
  if (!source) parts.push(el('p', {class: 'note'}, 'The trace has no source of it.'));
  panel.replaceChildren(...parts);
  if (!source) return;
  const view = sourceView(source.text, kernel);
  const notes = [source.options ? `Build options: ${source.options}` : '', view.note,
    source.cut ? `The last ${bytesText(source.cut)} of the source are not in this page.` : '',
  ].filter(Boolean).join(' ');
  panel.append(view.element);
  if (notes) panel.append(el('p', {class: 'note mono'}, notes));
  view.show();
}
function showKernels(report, sources) {
  if (report.kernels.length === 0) return;
  const panel = el('div', {id: 'kernel'});
  const rows = report.kernels.map((kernel, i) => ({kernel, source: sources.of[i]}));
  const show = row => kernelDetails(panel, row.kernel, row.source >= 0 ? sources.texts[row.source] : null);
  const having = (kernel, access) => kernel.args.filter(a => !byValue(a) && a.access === access).length;
  const count = access => ({number: true, value: r => having(r.kernel, access)});
  const table = new Table({name: 'Kernels', rows, sort: 2, onrow: show, columns: [
    {title: 'Kernel', value: r => r.kernel.name},
    {title: 'Launches', value: r => r.kernel.launches, text: r => countText(r.kernel.launches), number: true},
    {title: 'Time', value: r => r.kernel.time_ns, text: r => timeText(r.kernel.time_ns), number: true, share: true},
    {title: 'Per launch', value: r => r.kernel.launches ? r.kernel.time_ns / r.kernel.launches : 0,
      text: r => r.kernel.launches ? timeText(r.kernel.time_ns / r.kernel.launches) : '-', number: true},
    {title: 'Read', ...count('read')}, {title: 'Written', ...count('write')}, {title: 'Both', ...count('read_write')},
    {title: 'Unused', ...count('none')},
    {title: 'Known', value: r => r.kernel.exact ? 'exactly' : 'at most', class: 'nowrap'}]});
  const choose = el('select', {'aria-label': 'Kernel to show', onchange: () => table.choose(rows[choose.value])},
    rows.slice(0, 500).map((r, i) => el('option', {value: i}, r.kernel.name)));
  const more = rows.length > 500 ? `${rows.length - 500} more are in the table only` : '';
  section('kernels', 'Kernels',
    el('p', {class: 'note'}, 'What each kernel does with its arguments: choose a row to see its source.'),
    table.element, el('div', {class: 'bar'}, el('label', {}, 'Kernel', choose), more), panel,
    legend([['read', 'read'], ['write', 'written'], ['read-write', 'read and written'],
      ['none', 'unused, or a value']]));
  table.choose(table.view[0]);
  choose.value = rows.indexOf(table.view[0]);
}
