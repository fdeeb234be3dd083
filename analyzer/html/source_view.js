// OpenCL C with its words coloured, and the arguments of one kernel marked by what the kernel does with them.
const KEYWORDS = new Set(('kernel __kernel global __global local __local constant __constant private __private ' +
  'generic if else for while do switch case default break continue return struct union enum typedef const restrict ' +
  'volatile static inline unsigned signed void char uchar short ushort int uint long ulong float double half size_t ' +
  'bool read_only write_only read_write __read_only __write_only __read_write image2d_t image3d_t sampler_t event_t ' +
  'sizeof goto').split(' '));
// Comments, strings, preprocessor lines, words, numbers, everything else.
const WORDS = new RegExp([/(\/\*[\s\S]*?(?:\*\/|$)|\/\/[^\n]*)/, /("(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)/,
  /(^[ \t]*#[^\n]*)/, /([A-Za-z_]\w*)/, /(\.?\d[\w.]*)/, /(\s+|.)/].map(part => part.source).join('|'), 'gm');
const KINDS = ['c', 's', 'p', 'w', 'n', 'o'];
const MOST_LINES = 4000;

function* words(source) {
  for (const match of source.matchAll(WORDS)) {
    const kind = KINDS.find((_, i) => match[i + 1] !== undefined);
    yield {kind: kind === 'w' && KEYWORDS.has(match[0]) ? 'k' : kind, text: match[0]};
  }
}

// Positions of the first and last word of a kernel: its name, and the brace that ends its body.
function kernelRange(list, name) {
  const solid = list.map((w, i) => ({...w, i})).filter(w => w.kind !== 'c' && w.text.trim() !== '');
  for (let at = 0; at < solid.length; at++) {
    if (solid[at].text !== name || !solid[at + 1] || solid[at + 1].text !== '(') continue;
    let head = at - 1;
    while (head > 0 && ![';', '}'].includes(solid[head].text)) head--;
    if (!solid.slice(head, at).some(w => w.text === 'kernel' || w.text === '__kernel')) continue;
    let depth = 0;
    for (let end = at + 1; end < solid.length; end++) {
      if (solid[end].text === '{') depth++;
      if (solid[end].text === '}' && --depth === 0) return [solid[at].i, solid[end].i];
      if (solid[end].text === ';' && depth === 0) break;  // only declared
    }
  }
  return null;
}

// A member of the same name (x.a, p->a) is no argument.
function isMember(list, i) {
  const before = n => (list[i - n] || {}).text;
  return before(1) === '.' || (before(1) === '>' && before(2) === '-');
}

function sourceView(source, kernel) {
  const list = [...words(source)], range = kernelRange(list, kernel.name);
  const access = new Map(kernel.args.filter(a => a.name).map(a => [a.name, a]));
  const lines = [[]];
  let begin = -1;
  list.forEach((word, i) => {
    const inside = range && i >= range[0] && i <= range[1];
    if (range && i === range[0]) begin = lines.length - 1;
    const arg = inside && word.kind === 'w' && !isMember(list, i) ? access.get(word.text) : null;
    word.text.split('\n').forEach((piece, n) => {
      if (n > 0) lines.push([]);
      if (piece === '') return;
      if (arg) lines[lines.length - 1].push(el('mark', {class: 'arg-' + markOf(arg), title: argTitle(arg)}, piece));
      else lines[lines.length - 1].push('ow'.includes(word.kind) ? piece : el('span', {class: word.kind}, piece));
    });
  });
  const items = lines.slice(0, MOST_LINES).map((line, i) =>
    el('li', {class: i === begin ? 'signature' : null}, line.length ? line : ' '));
  const box = el('div', {class: 'source', tabindex: 0, role: 'region', 'aria-label': `Source of ${kernel.name}`},
    el('ol', {}, items));
  const left = lines.length - items.length;
  return {element: box, note: left > 0 ? `${plural(left, 'more line')} not shown.` : '',
    show: () => { if (begin > 0 && items[begin]) box.scrollTop = items[begin].offsetTop - box.offsetTop - 40; }};
}
