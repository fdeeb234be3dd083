// Verdict, features with their places, one row a link.
#include "analyzer/report/remote_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/base/units.h"

namespace gt::analyzer {
namespace {

constexpr size_t MostFeatures = 20;

std::string seconds_text(double s) { return time_text(static_cast<uint64_t>(std::clamp(s * 1e9, 0.0, 1e19))); }

void add_features(Text& out, const RemoteEligibility& remote, bool blocks) {
  size_t shown = 0, all = 0;
  for (const RemoteFeature& f : remote.features) {
    if (f.blocks != blocks) continue;
    if (++all > MostFeatures) continue;
    ++shown;
    out.paragraph(printable(fmt::format("- {}: {} at {}, {} call{}", f.reason, f.function, f.site.places(), f.calls,
                                        f.calls == 1 ? "" : "s")),
                  2);
  }
  if (all > shown) out.faint(fmt::format("... and {} more (--json shows all)", all - shown), 2);
}

void add_verdict(Text& out, const RemoteEligibility& remote) {
  if (remote.eligible) {
    out.paragraph("Nothing that the program uses ties it to devices of its own machine.");
  } else {
    out.paragraph("The program cannot run on remote devices. It uses:");
    add_features(out, remote, true);
    for (const RemoteQueue& q : remote.queues) {
      if (!q.eligible || q.commands == 0) continue;
      out.paragraph(printable(fmt::format("The queue made at {} has nothing that stands against it ({} commands).",
                                          q.site.places(), q.commands)),
                    2);
    }
  }
  const auto careful = [](const RemoteFeature& f) { return !f.blocks; };
  if (std::none_of(remote.features.begin(), remote.features.end(), careful)) return;
  out.paragraph("What can go, but not as it is:");
  add_features(out, remote, false);
}

std::string link_name(const LinkPrediction& p) {
  return printable(p.link.costs.name) + (p.link.assumed ? " (assumed)" : "");
}

std::string share(const LinkPrediction& p, Term term) {
  double sum = 0;
  for (const double part : p.parts_s) sum += part;
  return sum > 0 ? fmt::format("{:.0f} %", 100 * p.parts_s[static_cast<size_t>(term)] / sum) : "-";
}

void add_links(Text& out, const RemotePrediction& prediction) {
  if (prediction.links.empty()) return;
  out.paragraph(
      "Predicted run time with the devices at the other end of a link: the calls are replayed with the link's latency "
      "and bandwidth in between. Commands are sent without waiting; blocking reads, clFinish and the like wait for an "
      "answer; data passes the link, then the device's own transfer. The shares are those of the chain of events that "
      "the end of the run waits for.");
  std::vector<std::vector<std::string>> rows = {
      {"Link", "Run", "Slowdown", "Decides", "Latency", "Bandwidth", "Device", "Host", "Replies"}};
  for (const LinkPrediction& p : prediction.links) {
    rows.push_back({link_name(p), (p.approximate ? "~" : "") + seconds_text(p.seconds),
                    fmt::format("{:.2f}x", p.slowdown), term_name(p.dominates), share(p, Term::Latency),
                    share(p, Term::Bandwidth), share(p, Term::Device), share(p, Term::Host),
                    fmt::format("{:.0f}", p.replies)});
  }
  out.table(rows, 1);
  for (const std::string& doubt : prediction.doubts) out.faint(doubt, 2);
}

void add_queues(Text& out, const RemoteEligibility& remote, const RemotePrediction& prediction) {
  if (prediction.links.empty() || remote.queues.size() < 2) return;
  std::vector<std::vector<std::string>> rows = {
      {"Queue made at", "Link", "Commands", "Device", "On the link", "Waiting", "Decides"}};
  for (const LinkPrediction& p : prediction.links) {
    for (const QueueOnLink& q : p.queues) {
      const auto made = std::find_if(remote.queues.begin(), remote.queues.end(),
                                     [&](const RemoteQueue& r) { return r.queue == q.queue; });
      const std::string place = made == remote.queues.end() ? "?" : made->site.places();
      rows.push_back({printable(place), link_name(p), std::to_string(q.commands), seconds_text(q.device_s),
                      seconds_text(q.transfer_s), seconds_text(q.reply_s), term_name(q.dominates())});
    }
  }
  out.table(rows, 2);
}

}  // namespace

void add_remote(Text& out, const RemoteEligibility& remote, const RemotePrediction& prediction) {
  out.heading("Remote devices");
  add_verdict(out, remote);
  add_links(out, prediction);
  add_queues(out, remote, prediction);
}

}  // namespace gt::analyzer
