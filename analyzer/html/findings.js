// What costs time and can be changed: the greatest savings in full, all of them as a table.
const FINDINGS_IN_FULL = 8;

const savingText = f => f.saving_s === null ? 'not computed' : timeText(f.saving_s * 1e9);

// Advice that the finding before gave already is not repeated.
function findingCard(f, i, all) {
  return el('article', {class: 'finding'},
    el('h3', {}, f.rule.replace(/-/g, ' '), el('span', {class: 'mono'}, f.place),
      el('span', {class: 'save'}, f.saving_s === null ? '' : `saves about ${savingText(f)}`)),
    el('p', {}, f.evidence),
    i > 0 && all[i - 1].advice === f.advice ? el('p', {class: 'note'}, 'The same advice as above.') :
      el('p', {class: 'advice'}, f.advice),
    f.basis ? el('p', {class: 'note'}, (f.saving_s === null ? 'Saving ' : 'Assumes: ') + f.basis) : null);
}

function showFindings(report) {
  const findings = report.findings;
  const part = section('findings', 'Findings');
  const hint = report.findings_hint ? el('p', {class: 'note'}, report.findings_hint) : null;
  if (findings.length === 0) {
    part.append(el('p', {}, 'None: nothing was found that costs time and can be changed.'), hint || '');
    return;
  }
  part.append(...findings.slice(0, FINDINGS_IN_FULL).map(findingCard));
  if (findings.length > 1 && report.saving_together_s > 0) {
    const together = timeText(report.saving_together_s * 1e9);
    part.append(el('p', {}, `Together they save ${together} at most: some concern the same calls.`));
  }
  part.append(hint || '');
  const more = findings.length - FINDINGS_IN_FULL;
  const table = new Table({name: 'Findings', rows: findings, sort: 2, columns: [
    {title: 'Rule', value: f => f.rule, class: 'nowrap'}, {title: 'Place', value: f => f.place},
    {title: 'Saving', value: f => f.saving_s === null ? -1 : f.saving_s, text: savingText, number: true},
    {title: 'Evidence', value: f => f.evidence}, {title: 'What to do', value: f => f.advice}]});
  part.append(el('details', {open: more > 0},
    el('summary', {}, more > 0 ? `${plural(more, 'more finding')}: all as a table` : 'As a table'), table.element));
}
