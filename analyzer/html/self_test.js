// With #selftest in the address the page tries itself out and writes down what it found, for tests/e2e/html_browser.py.
function sortedAs(table) {
  const column = table.columns[table.sort], values = table.view.map(r => column.value(r));
  const sign = table.descending ? -1 : 1;
  return values.every((v, i) => i === 0 || sign * compare(values[i - 1], v) <= 0);
}
function tryTable(table, failures) {
  const keep = [table.sort, table.descending], fail = text => failures.push(`table ${table.name}: ${text}`);
  table.columns.forEach((column, i) => {
    for (const press of [1, 2]) {
      table.heads[i].querySelector('button').click();
      if (table.sort !== i || !sortedAs(table)) fail(`does not sort by ${column.title} at press ${press}`);
      const said = table.heads[i].getAttribute('aria-sort');
      if (said !== (table.descending ? 'descending' : 'ascending')) fail(`says ${said}`);
      const first = table.body.querySelector('tr');
      const expected = first && String(table.text(column, table.view[0]));
      if (first && !first.cells[i].textContent.startsWith(expected)) fail('shows another row first');
    }
  });
  if (table.body.rows.length !== Math.min(PAGE_ROWS, table.view.length)) fail('shows another number of rows');
  [table.sort, table.descending] = keep;
  table.order();
}
function tryTheme(failures) {
  const root = document.documentElement, before = root.dataset.theme;
  const page = () => getComputedStyle(document.body).backgroundColor;
  const background = page();
  byId('theme').click();
  if (root.dataset.theme === before || page() === background) failures.push('the theme does not change');
  byId('theme').click();
  if (root.dataset.theme !== before) failures.push('the theme does not change back');
}
function painted(canvas) {
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  for (let i = 3; i < pixels.length; i += 4) if (pixels[i] !== 0) return true;
  return false;
}
function tryLane(lane, failures) {
  const fail = text => failures.push(`lane ${lane.name}: ${text}`);
  const press = key => lane.canvas.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
  if (!painted(lane.canvas)) fail('is empty');
  lane.canvas.focus();
  if (lane.chosen !== 0) fail('chooses no block when it is entered');
  press('Enter');
  if (Math.abs(lane.to - lane.from - lane.data.width[0]) > 1e-6 * lane.data.total) fail('does not zoom');
  press('Escape');
  if (lane.from !== 0 || lane.to !== lane.data.total) fail('does not zoom out');
  const loop = lane.data.depth.findIndex((d, i) => lane.data.next[i] > i + 1);
  if (loop >= 0) {
    lane.choose(loop);
    press('f');
    if (!lane.folded.has(loop)) fail('does not fold');
    press('f');
  }
}
function tryPicture(failures) {
  const picture = document.querySelector('.flows'), box = picture && picture.querySelector('.node');
  if (!box) return;
  box.focus();
  const lit = picture.classList.contains('pointing') && box.classList.contains('lit');
  if (!lit) failures.push('a box does not light up');
  box.blur();
}
function timed(run) {
  const start = performance.now();
  run();
  return performance.now() - start;
}
function selfTest(ready_ms, page) {
  const failures = [], lanes = page.timeline ? page.timeline.lanes() : [];
  tables.forEach(t => tryTable(t, failures));
  tryTheme(failures);
  lanes.forEach(lane => tryLane(lane, failures));
  tryPicture(failures);
  const strangers = document.querySelectorAll('img, iframe, object, embed, link');
  failures.push(...[...strangers].map(e => `there is <${e.localName}>`));
  const slowest_draw_ms = lanes.reduce((most, lane) => Math.max(most, timed(() => lane.scale(0.9))), 0);
  lanes.forEach(lane => lane.window(0, lane.data.total));
  const blocks = lanes.reduce((most, lane) => Math.max(most, lane.data.depth.length), 0);
  const ok = failures.length === 0 && errors.length === 0;
  byId('footer').append(el('pre', {id: 'selftest'}, JSON.stringify({ok, failures, errors, ready_ms, slowest_draw_ms,
    tables: tables.map(t => [t.name, t.rows.length]), lanes: lanes.map(l => l.name), blocks,
    boxes: document.querySelectorAll('.flows .node').length, marks: document.querySelectorAll('.source mark').length,
    title: document.title, heading: byId('program').title})));
}
