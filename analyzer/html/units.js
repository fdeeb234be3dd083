// Numbers for people, as the text report writes them.
function timeText(ns) {
  if (ns === null || ns === undefined) return '-';
  if (ns < 1000) return `${Math.round(ns)} ns`;
  if (ns < 999.5e3) return `${Number((ns / 1e3).toPrecision(3))} us`;
  if (ns < 999.5e6) return `${Number((ns / 1e6).toPrecision(3))} ms`;
  return `${(ns / 1e9).toFixed(2)} s`;
}
function bytesText(bytes) {
  if (bytes < 1024) return `${Math.round(bytes)} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  let unit = -1;
  for (; bytes >= 1024 && unit + 1 < units.length; unit++) bytes /= 1024;
  return `${bytes.toFixed(1)} ${units[unit]}`;
}
const countText = n => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, '\u202f');
const plural = (n, one, many) => `${countText(n)} ${n === 1 ? one : many || one + 's'}`;
const percent = share => share >= 0.995 ? '100 %' : `${(share * 100).toPrecision(share < 0.01 ? 1 : 2)} %`;
const ratioText = (ratio, transfers) =>
  ratio === null ? (transfers > 0 ? '\u221e' : 'none') : String(Number(ratio.toPrecision(3)));
// Bytes that seem to have moved faster than any link: a mapping that showed them where they are.
const COPIES_BELOW = 100;  // GB/s
const speedOf = (bytes, ns) => ns > 0 && bytes / ns < COPIES_BELOW ? bytes / ns : 0;
const speedText = (bytes, ns) => ns > 0 && bytes / ns >= COPIES_BELOW ? 'no copy' :
  ns > 0 && bytes > 0 ? `${(bytes / ns).toPrecision(3)} GB/s` : '-';
const shortened = (text, most) => text.length > most ? text.slice(0, Math.max(1, most - 1)) + '\u2026' : text;
