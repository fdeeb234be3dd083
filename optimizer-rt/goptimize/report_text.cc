// The summary that ends a run: what was done, what it gained, and why not more.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "optimizer-rt/goptimize/report.h"

namespace gt::opt {
namespace {

constexpr size_t MostSites = 8;           // lines; the JSON has all
constexpr double LeastWorth_s = 0.0005;  // below, nothing was gained or lost

std::string bytes_text(uint64_t bytes) {
  const double b = static_cast<double>(bytes);
  if (b >= 1 << 30) return fmt::format("{:.1f} GiB", b / (1 << 30));
  if (b >= 1 << 20) return fmt::format("{:.1f} MiB", b / (1 << 20));
  return fmt::format("{:.1f} KiB", b / (1 << 10));
}

bool was_used(const SiteReport& s) { return s.policy != "standard" && s.allocations + s.hits > 0; }
bool disappoints(const SiteReport& s, bool measured) {
  return s.suspensions > 0 || (measured && s.saved_s < -LeastWorth_s);
}

std::string site_line(const SiteReport& s, bool measured) {
  std::string out = fmt::format("  {}: {}, {} allocations of {}, {} transfers of {}", s.site, s.policy, s.allocations,
                                bytes_text(s.bytes), s.hits, bytes_text(s.hit_bytes));
  if (measured) out += fmt::format(", {:.3f} s {}", std::fabs(s.saved_s), s.saved_s < 0 ? "lost" : "saved");
  if (disappoints(s, measured)) out += "\n    " + s.why;
  return out + "\n";
}

// Those first that gained or lost most.
std::string site_lines(const RunReport& r) {
  std::vector<const SiteReport*> used;
  for (const SiteReport& s : r.sites)
    if (was_used(s)) used.push_back(&s);
  std::stable_sort(used.begin(), used.end(),
                   [](auto* a, auto* b) { return std::fabs(a->saved_s) > std::fabs(b->saved_s); });
  std::string out;
  for (size_t i = 0; i < std::min(used.size(), MostSites); ++i) out += site_line(*used[i], r.measured);
  if (used.size() <= MostSites) return out;
  return out + fmt::format("  and {} sites more: --report FILE has all\n", used.size() - MostSites);
}

// A profile may name places in libraries that both programs use, or the program that this one starts: no error.
std::string foreign_profile(const RunReport& r) {
  return r.made_for.empty() ? "" : fmt::format("{} was made for another program or build: {}", r.profile, r.made_for);
}

std::string by_themselves(const RunReport& r) {
  const RunReport::Moved& moved = r.moved_by_devices;
  if (moved.moves == 0) return "";
  return fmt::format(", of these {} times, {}, without the host's memory", moved.moves, bytes_text(moved.bytes));
}

// Programs take the first device that suits them.
std::string unused_remote(const RunReport& r) {
  if (r.remote_devices == 0 || r.remote_contexts > 0) return "";
  return std::string(", none of them used: the program took devices of this machine, or none (") +
         (r.remote_first ? "--only remote" : "--order remote-first, or --only remote") + ")";
}

std::string other_lines(const RunReport& r) {
  std::string out;
  const auto line = [&]<class... A>(fmt::format_string<A...> text, A&&... a) {
    fmt::format_to(std::back_inserter(out), text, std::forward<A>(a)...);
  };
  if (!r.made_for.empty() && std::ranges::none_of(r.sites, was_used)) line("  {}\n", foreign_profile(r));
  if (!r.remote_urls.empty()) line("  remote: {} devices of {}{}\n", r.remote_devices, r.remote_urls, unused_remote(r));
  if (r.moved_here.moves)
    line("  moved between devices of this machine: {} times, {}{}\n", r.moved_here.moves,
         bytes_text(r.moved_here.bytes), by_themselves(r));
  if (r.moved_directly.moves)
    line("  moved from proxy to proxy, or inside one: {} times, {}\n", r.moved_directly.moves,
         bytes_text(r.moved_directly.bytes));
  if (r.moved_through_us.moves)
    line("  moved between devices through the program: {} times, {}\n", r.moved_through_us.moves,
         bytes_text(r.moved_through_us.bytes));
  if (r.known.moves)
    line("  not sent, because the proxy had kept it: {}; {} that it was thought to have were sent all the same\n",
         bytes_text(r.known.bytes - std::min(r.known.bytes, r.missed.bytes)), bytes_text(r.missed.bytes));
  if (r.packed.moves + r.unpacked.moves)
    line("  not sent, because the rest was compressed: {} of writes, {} of reads\n", bytes_text(r.packed.bytes),
         bytes_text(r.unpacked.bytes));
  if (r.in_place)
    line("  in place, by devices behind shared memory: {} transfers of {}\n", r.in_place, bytes_text(r.in_place_bytes));
  if (r.staged) line("  staged: {} transfers of {}\n", r.staged, bytes_text(r.staged_bytes));
  if (r.staged_suspensions)
    line("  staging took longer than the driver was measured to: suspended {} times, {} transfers left to the driver\n",
         r.staged_suspensions, r.staged_left);
  if (r.drivers_own)
    line("  left to the driver, whose own memory it is (maps, CL_MEM_USE_HOST_PTR, SVM): {} transfers of {}\n",
         r.drivers_own, bytes_text(r.drivers_own_bytes));
  if (r.reused_blocks)
    line("  pinned on reuse: {} blocks of {}, {} transfers\n", r.reused_blocks, bytes_text(r.reused_bytes), r.reused);
  if (r.huge_blocks) line("  huge pages: {} of {} fresh blocks\n", bytes_text(r.huge_bytes), r.huge_blocks);
  if (r.kept_blocks)
    line("  freed and allocated again with their pages: {} blocks of {}\n", r.kept_blocks, bytes_text(r.kept_bytes));
  if (r.pinned_ranges)
    line("  pinned {} ranges, {}, in {:.1f} ms\n", r.pinned_ranges, bytes_text(r.pinned_bytes),
         static_cast<double>(r.pin_ns) * 1e-6);
  if (const uint64_t bytes = r.returned_excess + r.returned_short + r.returned_idle)
    line("  given back to the system while it ran: {}\n", bytes_text(bytes));
  for (const auto& [reason, count] : r.fallbacks) line("  left as it was: {} x {}\n", reason, count);
  return out;
}

double sites_saved_s(const RunReport& r) {
  double s = 0;
  for (const SiteReport& site : r.sites) s += site.saved_s;
  return s;
}
double reuse_saved_s(const RunReport& r) { return seconds(r.reused_saved_ns) - seconds(r.reuse_pin_ns); }

std::string gain(const RunReport& r) {
  std::string parts;
  const auto part = [&](double s, const char* by) {
    if (std::fabs(s) < LeastWorth_s) return;
    parts += fmt::format("{}{:.3f} s {}", parts.empty() ? "" : ", ", s, by);
  };
  part(sites_saved_s(r), "at allocation sites");
  part(staged_saved_s(r), "by staging");
  part(reuse_saved_s(r), "by pinning on reuse");
  return fmt::format("about {:.3f} s saved, by the measured costs: {}", saved_s(r), parts);
}

std::string pages_gain(const RunReport& r) {
  return r.pages_saved_s < LeastWorth_s
             ? "nothing to speak of saved"
             : fmt::format("about {:.3f} s saved, as estimated by what one thread takes", r.pages_saved_s);
}

}  // namespace

double staged_saved_s(const RunReport& r) { return seconds(r.staged_saved_ns) - seconds(r.staged_lost_ns); }

double saved_s(const RunReport& r) { return sites_saved_s(r) + staged_saved_s(r) + reuse_saved_s(r); }

std::string outcome(const RunReport& r) {
  if (!r.injected || r.only_asked) return r.decision;
  uint64_t changed = r.staged + r.reused;
  for (const SiteReport& s : r.sites) changed += s.hits;
  if (changed == 0 && r.huge_blocks > 0)
    return fmt::format("fresh memory was touched in huge pages, up to {}: {}", bytes_text(r.huge_bytes), pages_gain(r));
  if (r.transfers + r.in_place == 0 && r.remote_devices > 0)
    return r.remote_contexts > 0 ? "nothing saved here: the program moved nothing to local devices"
                                 : "nothing saved here: the program moved nothing to any device";
  if (r.transfers + r.in_place == 0) return "nothing saved: the program transferred nothing";
  if (r.measured && r.devices_met > 0 && r.devices_known == 0)
    return "the platform file has no costs of the program's devices: what was saved is not known "
           "(gmicrobench platform)" +
           (r.unmeasured.empty() ? std::string() : "; " + r.unmeasured);
  if (changed == 0 && !r.made_for.empty()) return "nothing saved: " + foreign_profile(r) + " (gtrace run, ganalyze)";
  if (changed == 0)
    return fmt::format("nothing saved: its {} transfers ({}) are of other memory than the profile names, or too small",
                       r.transfers, bytes_text(r.transfer_bytes));
  if (!r.measured)
    return "what that saved is not known: " +
           (r.unmeasured.empty() ? "this machine was not measured (gmicrobench platform)" : r.unmeasured);
  const double saved = saved_s(r);
  if (saved >= LeastWorth_s) return gain(r) + (r.pages_saved_s < LeastWorth_s ? "" : "; huge pages: " + pages_gain(r));
  if (saved > -LeastWorth_s) return "nothing to speak of saved: less than half a millisecond";
  const double lost = -saved;
  if (-staged_saved_s(r) > lost / 2)
    return fmt::format("about {:.3f} s lost: staging took longer than it was measured to (gmicrobench platform)", lost);
  return fmt::format("about {:.3f} s lost: the program does not do what its profile says (gtrace run, ganalyze)", lost);
}

std::string report_text(const RunReport& r) {
  if (!r.injected || r.only_asked) return fmt::format("goptimize: {}\n", r.decision);
  return fmt::format("goptimize: {}\n{}{}goptimize: {}\n", r.decision, site_lines(r), other_lines(r), outcome(r));
}

void print_report(const RunReport& r) { fmt::print(stderr, "{}", report_text(r)); }

}  // namespace gt::opt
