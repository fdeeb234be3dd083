// Elements from plain values. Text is always set as text: names in a trace are hostile.
const SVG = document.getElementById('svg').namespaceURI;

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const byId = id => document.getElementById(id);
const color = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();

// A part of the page, with its entry in the contents.
function section(id, title, ...children) {
  byId('contents').append(el('a', {href: '#' + id}, title));
  const part = el('section', {id, 'aria-labelledby': id + '-title'}, el('h2', {id: id + '-title'}, title), children);
  byId('main').append(part);
  return part;
}
const legend = entries => el('div', {class: 'legend'}, entries.map(
  ([name, text]) => el('span', {style: `--swatch: var(--${name})`}, text)));
