// Writing the plan, sharing the counters.
#include "optimizer-rt/goptimize/session.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "optimizer-rt/goptimize/file_limit.h"
#include "traces/base/fd.h"

namespace gt::opt {
namespace {

using model::Policy;

constexpr uint64_t LeastDriverBytes = uint64_t{64} << 20;
constexpr uint64_t MostDriverBytes = uint64_t{1} << 30;
constexpr uint64_t DriverBlocksLive = 4;  // of each site at a time

// Cuts what is too long: a name that does not fit matches nothing, which is safe.
template <size_t N>
void put_text(char (&out)[N], const std::string& text) {
  std::memset(out, 0, N);
  std::memcpy(out, text.data(), std::min(text.size(), N - 1));
}

SizeCosts size_costs(const model::Curve& curve) {
  SizeCosts out{};
  if (curve.empty()) return out;
  for (size_t b = 0; b < CostSizes; ++b) out.ns[b] = static_cast<float>(curve(std::exp2(static_cast<double>(b))));
  return out;
}

// `way`: to the device; the one after it is the way back.
void put_both(PlanDevice& out, SizeCosts WayCosts::*member, Way way, const model::BothWays& costs) {
  out.ways[way].*member = size_costs(costs.h2d);
  out.ways[way + 1].*member = size_costs(costs.d2h);
}

void put_costs(PlanDevice& out, const model::DeviceCosts& device) {
  const auto put = [&](Policy policy, SizeCosts WayCosts::*member) {
    const model::PolicyCosts* costs = device.costs(policy);
    if (!costs) return;
    put_both(out, member, HostToDevice, {costs->h2d, costs->d2h});
  };
  put(Policy::Standard, &WayCosts::standard);
  put(Policy::Pin, &WayCosts::pinned);
  put(Policy::OpenCl, &WayCosts::opencl);
  put(Policy::Locked, &WayCosts::locked);
  put(Policy::Hybrid, &WayCosts::hybrid);
  if (device.staged) {
    put_both(out, &WayCosts::staged, HostToDevice, {device.staged->h2d, device.staged->d2h});
  }
  if (device.svm) {
    put_both(out, &WayCosts::standard, HostToSvm, device.svm->standard);
    put_both(out, &WayCosts::pinned, HostToSvm, device.svm->pinned);
    if (device.svm->staged) put_both(out, &WayCosts::staged, HostToSvm, *device.svm->staged);
  }
  if (device.pin) out.pin = size_costs(*device.pin);
}

// As many as any device was measured with; 0: none was.
uint32_t copy_threads(const model::Platform& platform) {
  uint32_t most = 0;
  for (const model::DeviceCosts& d : platform.devices)
    if (d.staged) most = std::max(most, d.staged->threads);
  return most;
}

double touch_ns_per_byte(const model::Platform& platform) {
  constexpr double Large = 64 << 20;
  return platform.host.first_touch ? (*platform.host.first_touch)(Large) / Large : 0;
}

PlanSite plan_site(const model::ProfileSite& site, const SiteDecision& decision,
                   uint32_t known_devices) {
  PlanSite out{};
  put_text(out.build_id, site.build_id);
  put_text(out.module, site.module);
  out.offset = site.offset;
  out.min_bytes = site.min_bytes;
  out.max_bytes = site.max_bytes;
  out.other_sizes = decision.terms.other_sizes;
  out.pin_on = decision.pin_on & known_devices;
  out.policy = static_cast<uint32_t>(decision.policy);
  out.margin_ns = decision.terms.margin_ns;
  out.reuse_ns_per_byte = decision.terms.reuse_ns_per_byte;
  out.lock_ns_per_byte = decision.terms.lock_ns_per_byte;
  return out;
}

template <class T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// The sites worth a row, most saving first, then cut and brought back into the profile's order.
std::vector<size_t> chosen_sites(const model::Profile& profile, const Decision& decision) {
  std::vector<size_t> out;
  for (size_t i = 0; i < profile.sites.size(); ++i) {
    const model::ProfileSite& s = profile.sites[i];
    const bool named = !s.build_id.empty() || !s.module.empty();
    if (decision.sites[i].policy != Policy::Standard && named && s.min_bytes <= s.max_bytes)
      out.push_back(i);
  }
  std::stable_sort(out.begin(), out.end(), [&](size_t a, size_t b) {
    return decision.sites[a].saved_s > decision.sites[b].saved_s;
  });
  out.resize(std::min(out.size(), MaxSites));
  std::sort(out.begin(), out.end());
  return out;
}

uint64_t driver_bytes(const model::Profile& profile, const Decision& decision,
                      const std::vector<size_t>& sites) {
  uint64_t bytes = 0;
  for (const size_t i : sites) {
    if (decision.sites[i].policy != Policy::OpenCl) continue;
    const uint64_t live = std::clamp<uint64_t>(profile.sites[i].allocations, 1, DriverBlocksLive);
    const model::ProfileSite& s = profile.sites[i];
    bytes += std::min(s.typical_bytes ? s.typical_bytes : s.max_bytes, MostDriverBytes) * live;
    if (bytes == 0) bytes = 1;
  }
  return bytes == 0 ? 0 : std::clamp(bytes, LeastDriverBytes, MostDriverBytes);
}

}  // namespace

EncodedPlan encode_plan(const model::Platform& platform, const model::Profile& profile,
                        const Decision& decision, bool pin_everywhere, Staging staging, Reuse reuse, bool shared,
                        bool asks, bool huge_pages) {
  EncodedPlan out;
  out.site_of_plan = chosen_sites(profile, decision);
  const size_t devices = std::min(platform.devices.size(), MaxPlanDevices);
  const uint32_t known = devices >= 32 ? ~uint32_t{0} : (uint32_t{1} << devices) - 1;
  std::string body;
  for (size_t i = 0; i < devices; ++i) {
    PlanDevice d{};
    put_text(d.name, platform.devices[i].name);
    put_text(d.driver, platform.devices[i].driver);
    put_costs(d, platform.devices[i]);
    append(body, d);
  }
  for (const size_t i : out.site_of_plan)
    append(body, plan_site(profile.sites[i], decision.sites[i], known));
  PlanHeader h{};
  std::memcpy(h.magic, PlanMagic, sizeof PlanMagic);
  h.version = PlanVersion;
  h.devices = static_cast<uint32_t>(devices);
  h.sites = static_cast<uint32_t>(out.site_of_plan.size());
  h.pin_everywhere = pin_everywhere ? 1 : 0;
  h.driver_bytes = driver_bytes(profile, decision, out.site_of_plan);
  h.staging = static_cast<uint32_t>(staging);
  h.reuse = static_cast<uint32_t>(reuse);
  h.shared = shared ? 1 : 0;
  h.asks = asks ? 1 : 0;
  h.huge_pages = huge_pages ? 1 : 0;
  h.copy_threads = copy_threads(platform);
  h.touch_ns_per_byte = touch_ns_per_byte(platform);
  h.checksum = plan_checksum(std::as_bytes(std::span(body)));
  append(out.bytes, h);
  out.bytes += body;
  return out;
}

Result<Session> Session::begin(const EncodedPlan& plan, std::chrono::seconds limit) {
  const FileLimitIsAnError no_signal;
  const char* base = std::getenv("TMPDIR");
  std::string folder = std::string(base && *base == '/' ? base : "/tmp") + "/goptimize.XXXXXX";
  if (!::mkdtemp(folder.data())) return system_error("cannot make " + folder, errno);  // 0700
  Session session(folder);
  GT_TRY(session.write_plan(plan.bytes, session.plan_path()));
  GT_TRY(session.map(session.counters_path(), &session.counters_));
  session.counters_->magic = CountersMagic;
  session.counters_->size = sizeof(Counters);
  if (limit.count() == 0) return session;
  GT_TRY(session.map(session.requests_path(), &session.requests_));
  session.requests_->magic = RequestsMagic;
  session.requests_->size = sizeof(Requests);
  session.requests_->limit_ms = static_cast<uint64_t>(limit.count()) * 1000;
  return session;
}

Status Session::write_plan(const std::string& bytes, const std::string& path) const {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.open()) return system_error("cannot write " + path, errno);
  const ssize_t n = ::write(file.get(), bytes.data(), bytes.size());
  if (n != static_cast<ssize_t>(bytes.size())) return system_error("cannot write " + path, n < 0 ? errno : ENOSPC);
  return {};
}

Status Session::replace_plan(const EncodedPlan& plan) const {
  const FileLimitIsAnError no_signal;
  const std::string part = plan_path() + ".part";
  Status status = write_plan(plan.bytes, part);
  if (status.ok() && ::rename(part.c_str(), plan_path().c_str()) != 0)
    status = system_error("cannot replace " + plan_path(), errno);
  if (!status.ok()) ::unlink(part.c_str());
  return status;
}

template <class T>
Status Session::map(const std::string& path, T** out) const {
  const Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.open()) return system_error("cannot write " + path, errno);
  // All of it exists from the start: a full disk must not become a SIGBUS in the program.
  if (const int err = ::posix_fallocate(file.get(), 0, sizeof(T))) return system_error("cannot write " + path, err);
  void* p = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (p == MAP_FAILED) return system_error("cannot map " + path, errno);
  *out = static_cast<T*>(p);
  return {};
}

Session::Session(Session&& other) noexcept
    : folder_(std::exchange(other.folder_, {})),
      counters_(std::exchange(other.counters_, nullptr)),
      requests_(std::exchange(other.requests_, nullptr)) {}

Session::~Session() {
  if (counters_) ::munmap(counters_, sizeof(Counters));
  if (requests_) {
    std::atomic_ref(requests_->limit_ms).store(0, std::memory_order_relaxed);  // who is left over waits no longer
    ::munmap(requests_, sizeof(Requests));
  }
  if (folder_.empty()) return;
  ::unlink(plan_path().c_str());
  ::unlink(counters_path().c_str());
  ::unlink(requests_path().c_str());
  ::rmdir(folder_.c_str());
}

}  // namespace gt::opt
