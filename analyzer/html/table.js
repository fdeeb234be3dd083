// Tables that sort by any column and show their rows page by page, however many there are.
//
// column: {title, value(row) -> number or string, text(row) -> shown, number, share}. `share` draws a bar of the
// value's part of the column's sum.
const PAGE_ROWS = 25;
const tables = [];  // all on the page, for the self-test

function compare(a, b) {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b), 'en', {numeric: true});
}

class Table {
  constructor({name, columns, rows, sort = -1, descending = true, onrow = null, filter = rows.length > PAGE_ROWS}) {
    Object.assign(this, {name, columns, rows, sort, descending, onrow, page: 0, query: '', chosen: null});
    this.sums = columns.map(c => c.share ? rows.reduce((sum, r) => sum + c.value(r), 0) : 0);
    this.heads = columns.map((c, i) => el('th', {scope: 'col', class: c.number ? 'number' : null},
      el('button', {type: 'button', onclick: () => this.sortBy(i)}, c.title)));
    this.body = el('tbody', {});
    this.shown = el('span', {'aria-live': 'polite'});
    this.back = el('button', {type: 'button', onclick: () => this.turn(-1)}, 'Previous');
    this.next = el('button', {type: 'button', onclick: () => this.turn(1)}, 'Next');
    this.pager = el('div', {class: 'bar'}, this.shown, this.back, this.next, filter ? this.filterBox() : null);
    this.element = el('div', {class: 'table'}, el('div', {class: 'scroll'},
      el('table', {'aria-label': name}, el('thead', {}, el('tr', {}, this.heads)), this.body)), this.pager);
    tables.push(this);
    this.order();
  }
  filterBox() {
    return el('label', {class: 'push'}, 'Filter', el('input', {type: 'search', 'aria-label': `Filter ${this.name}`,
      oninput: e => { this.query = e.target.value.toLowerCase(); this.page = 0; this.order(); }}));
  }
  sortBy(column) {
    this.descending = this.sort === column ? !this.descending : Boolean(this.columns[column].number);
    this.sort = column;
    this.page = 0;
    this.order();
  }
  turn(pages) {
    this.page += pages;
    this.draw();
  }
  matches(row) {
    return this.columns.some(c => String(this.text(c, row)).toLowerCase().includes(this.query));
  }
  order() {
    const column = this.columns[this.sort];
    this.view = this.query ? this.rows.filter(r => this.matches(r)) : this.rows.slice();
    if (column) {
      const keyed = this.view.map(row => ({row, key: column.value(row)}));
      keyed.sort((a, b) => this.descending ? compare(b.key, a.key) : compare(a.key, b.key));
      this.view = keyed.map(k => k.row);
    }
    this.heads.forEach((head, i) => head.setAttribute('aria-sort',
      i === this.sort ? (this.descending ? 'descending' : 'ascending') : 'none'));
    this.draw();
  }
  text(column, row) {
    return column.text ? column.text(row) : column.value(row);
  }
  cell(column, index, row) {
    const text = this.text(column, row);
    if (!column.share) return el('td', {class: column.number ? 'number' : column.class || 'text'}, text);
    const part = this.sums[index] > 0 ? column.value(row) / this.sums[index] : 0;
    return el('td', {class: 'number'}, text, el('span', {class: 'share', title: percent(part)},
      el('i', {style: `width: ${(part * 100).toFixed(1)}%`})));
  }
  draw() {
    const first = this.page * PAGE_ROWS, end = Math.min(first + PAGE_ROWS, this.view.length);
    this.body.replaceChildren(...this.view.slice(first, end).map(row => el('tr', {
      class: row === this.chosen ? 'chosen' : null,
      onclick: this.onrow ? () => this.choose(row) : null,
    }, this.columns.map((c, i) => this.cell(c, i, row)))));
    const all = this.view.length;
    const left = this.rows.length - all;
    this.shown.textContent = (all === 0 ? 'No row' : `Rows ${first + 1} to ${end} of ${countText(all)}`) +
      (left ? `, ${countText(left)} do not match` : '');
    this.back.disabled = this.page === 0;
    this.next.disabled = end >= all;
    this.pager.hidden = this.rows.length <= PAGE_ROWS;
  }
  choose(row) {
    this.chosen = row;
    this.draw();
    this.onrow(row);
  }
}
