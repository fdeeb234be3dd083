// The page, from top to bottom.
const errors = [];
addEventListener('error', e => errors.push(e.message));

const data = JSON.parse(byId('data').textContent);
const report = data.report;
const page = {};

startTheme();
byId('program').textContent = report.program.split('/').pop() || 'a program';
byId('program').title = report.program;
byId('origin').textContent = report.trace;
byId('origin').title = report.trace;
showVerdict(report);
showRun(report.run, report.goptimize);
if (report.opencl_calls === 0) {
  byId('main').append(el('section', {}, el('p', {}, 'The trace has no OpenCL calls: there is nothing to analyze.')));
}
showFindings(report);
if (data.timeline.tracks.length > 0) page.timeline = showTimeline(data.timeline);
showFlows(report.flows);
showTransfers(report);
showKernels(report, data.sources);
showFunctions(report.functions);
showRemote(report.remote);
showLosses(report);
showNext(report);
byId('footer').textContent = `Written by ganalyze ${data.version}. This page is complete: it loads nothing.`;

const ready = performance.now();
if (location.hash === '#selftest') addEventListener('load', () => selfTest(ready, page));
