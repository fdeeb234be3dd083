// Where the time of the whole run goes, and how much faster it could be at best.
function showRun(run, goptimize) {
  if (!run) return;
  const parts = run.parts.filter(p => p.ns > 0);
  const table = new Table({name: 'Parts of the run', rows: parts, sort: 1, columns: [
    {title: 'Part', value: p => p.name}, time('Time', 'ns', {share: true}),
    {title: 'Of the run', value: p => p.ns, text: p => (100 * p.ns / run.ns).toFixed(1) + ' %', number: true},
    {title: 'goptimize', value: p => p.reachable ? 'can make it faster' : ''}]});
  const notes = [];
  if (!run.whole) notes.push('Of the run as far as it was recorded: how long all of it was is not in the trace.');
  if (run.beside_ns > 0) {
    notes.push(`Other threads spent ${timeText(run.beside_ns)} in OpenCL calls, beside this one: in none of the figures.`);
  }
  if (goptimize.saved_s > 0) {
    notes.push(`goptimize run is predicted to save ${timeText(goptimize.saved_s * 1e9)}, ${goptimize.basis}.`);
  }
  section('run', 'The run', el('p', {}, run.explanation), table.element, notes.map(n => el('p', {class: 'note'}, n)));
}
