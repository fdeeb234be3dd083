// The probes of a device.
#include "microbench/probes/device_probe.h"

#include <algorithm>

#include "microbench/probes/kernels.h"
#include "microbench/probes/staged_engine.h"
#include "microbench/probes/thread_choice.h"
#include "traces/model/curves/curve_fit.h"

namespace gt::bench {
namespace {

using memory::HostBlock;
using model::Policy;

constexpr uint64_t RowBytes = 4096;  // of a rectangle; its pitch is twice that
constexpr int WindowLaunches = 32;
constexpr uint64_t ChoosingBytes = 64 << 20;  // transfers by which the number of copying threads is chosen
constexpr double ChoosingShare = 0.3;         // of the time for staged transfers

model::Curve curve_of(const Series& s) { return model::fit_curve(s.samples); }

std::optional<model::BothWays> both_of(const std::vector<Series>& s) {
  if (s[0].samples.empty() || s[1].samples.empty()) return {};
  return model::BothWays{curve_of(s[0]), curve_of(s[1])};
}

// Adds what `step` takes to `out`.
template <class Step>
Status timed(uint64_t bytes, Series& out, const Step& step) {
  const double start = now_ns();
  GT_TRY(step());
  out.add(bytes, now_ns() - start);
  return {};
}

// A block that is made anew for each size.
class Block {
 public:
  Status make(const Session& session, Policy policy, uint64_t bytes) {
    block_.reset();
    Result<HostBlock> made = HostBlock::make(session.place(), policy, bytes);
    if (!made) return Status(Kind::Unsupported, made.status().text(), made.status().code());
    block_.emplace(std::move(*made));
    return {};
  }
  void* data() const { return block_->data(); }

 private:
  std::optional<HostBlock> block_;
};

}  // namespace

Status DeviceProbe::sweep_one(Probe probe, std::vector<Series>& series, const std::vector<uint64_t>& sizes,
                              const Pace& pace) {
  for (const Series& s : series) probe.series.push_back(&s);
  const Status status = sweep({&probe, 1}, sizes, pace);
  for (Mem& buffer : buffers_) buffer.reset();
  for (const Series& s : series)
    if (!s.samples.empty()) series_.push_back(s);
  return status;
}

Status DeviceProbe::make_buffers(uint64_t bytes, int count) {
  for (Mem& buffer : buffers_) buffer.reset();
  for (int i = 0; i < count; ++i) {
    Result<Mem> made = session_.buffer(bytes);
    if (!made) return made.status();
    buffers_[i] = std::move(*made);
  }
  return {};
}

// Standard memory: what a program has when the optimizer comes to know of it.
Status DeviceProbe::pin(const std::vector<uint64_t>& sizes, const Pace& pace, model::DeviceCosts& out) {
  std::vector<Series> series = {{"pin", "in place", {}}};
  Block block;
  uint64_t size = 0;
  const auto prepare = [&](uint64_t bytes) { return block.make(session_, Policy::Standard, size = bytes); };
  const auto turn = [&] {
    return timed(size, series[0], [&] {
      cl_mem pinned = nullptr;
      const auto& cl = session_.place().cl;
      const cl_int err = memory::pin_in_place(cl, session_.context(), block.data(), size, &pinned);
      memory::unpin(cl, pinned);
      return err == CL_SUCCESS ? Status() : Status(Kind::Unsupported, "CL_MEM_USE_HOST_PTR refused", err);
    });
  };
  GT_TRY(sweep_one({prepare, turn, {}}, series, sizes, pace));
  if (!series[0].samples.empty()) out.pin = curve_of(series[0]);
  return {};
}

namespace {

// From small on: a driver may take a minute for what another one does in a millisecond. Gives the largest size, up to
// `most`, that is expected to take so little that there is time to choose by it; it is prepared.
Result<uint64_t> size_to_choose_by(uint64_t most, double budget_s, const std::function<Status(uint64_t)>& prepare,
                                   const std::function<Status()>& both_ways) {
  constexpr uint64_t Least = 64 << 10, Factor = 4;
  constexpr double Turns = 16;  // that come with the next size
  for (uint64_t size = std::min(Least, most);; size = std::min(size * Factor, most)) {
    GT_TRY(prepare(size));
    const double start = now_ns();
    GT_TRY(both_ways());
    if (size == most || (now_ns() - start) * Factor * Turns > budget_s * 1e9) return size;
  }
}

// Rounds of transfers with 1, 2, 4, ... threads. `both_ways`: one each way. At least LeastRounds, if they fit into
// three times the budget.
Status choose_threads(StagedEngine& engine, const std::function<Status()>& both_ways, const Pace& pace) {
  constexpr size_t LeastRounds = 7, MostRounds = 40, SlowRounds = 3;
  const unsigned most = StagedEngine::most_threads();
  std::vector<ThreadTimes> counts;
  for (unsigned n = 1; n <= most; n = n < most ? std::min(2 * n, most) : n + 1) counts.push_back({n, {}});
  const double start = now_ns();
  for (size_t round = 0; round < MostRounds; ++round) {
    const double budgets = (now_ns() - start) / (pace.budget_s * 1e9);
    if (round >= LeastRounds ? budgets > 1 : round >= SlowRounds && budgets > 3) break;
    for (ThreadTimes& count : counts) {
      engine.use_threads(count.threads);
      GT_TRY(both_ways());  // the threads are new
      const double begun = now_ns();
      GT_TRY(both_ways());
      count.ns.push_back(now_ns() - begun);
    }
  }
  engine.use_threads(fewest_threads(counts));
  return {};
}

}  // namespace

Status DeviceProbe::staged(const std::vector<uint64_t>& sizes, const Pace& pace, model::DeviceCosts& out) {
  if (sizes.empty()) return {};  // hardly any memory may be used
  const auto engine = StagedEngine::open(session_);
  if (!engine) return engine.status();
  std::vector<Series> series = {{"h2d", "staged", {}}, {"d2h", "staged", {}}}, warm_up(2);
  Block block;
  uint64_t size = 0;
  const auto both_ways = [&](std::vector<Series>& into) -> Status {
    for (const staging::Way way : {staging::Way::ToDevice, staging::Way::ToHost}) {
      const staging::HostTransfer move = staging::range_transfer(way, buffers_[0].get(), 0, size, block.data());
      GT_TRY(timed(size, into[static_cast<size_t>(way)], [&] { return (*engine)->transfer(move); }));
    }
    return {};
  };
  const auto prepare = [&](uint64_t bytes) -> Status {
    size = bytes;
    GT_TRY(make_buffers(bytes, 1));
    GT_TRY(block.make(session_, Policy::Standard, bytes));
    return both_ways(warm_up);
  };
  Pace choosing = pace, sweeping = pace;
  choosing.budget_s = pace.budget_s * ChoosingShare;
  sweeping.budget_s = pace.budget_s - choosing.budget_s;
  const uint64_t most = std::min(sizes.back(), ChoosingBytes);
  const auto by = size_to_choose_by(most, choosing.budget_s, prepare, [&] { return both_ways(warm_up); });
  Status chosen = by.status();
  if (chosen.ok()) chosen = choose_threads(**engine, [&] { return both_ways(warm_up); }, choosing);
  if (!chosen.ok()) return chosen.kind() == Kind::Unsupported ? Status() : chosen;
  GT_TRY(sweep_one({prepare, [&] { return both_ways(series); }, {}}, series, sizes, sweeping));
  if (const auto both = both_of(series))
    out.staged = model::StagedCosts{both->h2d, both->d2h, (*engine)->threads(), staging::LargestChunk};
  return {};
}

namespace {

// Of one size at a time, copied by each kind of host memory: pageable, pinned in place, staged.
class SvmCopies {
 public:
  enum Host : size_t { Standard, Pinned, Staged, Count };

  SvmCopies(const Session& session, StagedEngine* engine) : session_(session), engine_(engine) {}
  ~SvmCopies() { release(); }

  Status make(uint64_t bytes) {
    release();
    GT_TRY(blocks_[Standard].make(session_, Policy::Standard, bytes));
    GT_TRY(blocks_[Pinned].make(session_, Policy::Pin, bytes));
    bytes_ = bytes;
    memory_ = session_.svm().allocate(session_.context(), CL_MEM_READ_WRITE, bytes, 0);
    return memory_ ? Status() : Status(Kind::Unsupported, "clSVMAlloc refused");
  }
  bool has(Host host) const { return host != Staged || engine_; }
  uint64_t bytes() const { return bytes_; }

  Status copy(Host kind, staging::Way way) {
    void* const host = blocks_[kind == Pinned ? Pinned : Standard].data();
    if (kind == Staged) return engine_->transfer(staging::svm_transfer(way, memory_, bytes_, host));
    const bool up = way == staging::Way::ToDevice;
    return cl_status("clEnqueueSVMMemcpy",
                     session_.svm().copy(session_.queue(), CL_TRUE, up ? memory_ : host, up ? host : memory_,
                                          bytes_, 0, nullptr, nullptr));
  }

 private:
  void release() {
    if (memory_) session_.svm().release(session_.context(), memory_);
    memory_ = nullptr;
  }

  const Session& session_;
  StagedEngine* const engine_;
  Block blocks_[2];
  void* memory_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace

// After staged(), which chooses the number of threads.
Status DeviceProbe::svm(const std::vector<uint64_t>& sizes, const Pace& pace, model::DeviceCosts& out) {
  if (!session_.svm().copy || sizes.empty()) return {};
  std::unique_ptr<StagedEngine> engine;
  if (out.staged) {
    auto opened = StagedEngine::open(session_);
    if (!opened) return opened.status();
    engine = std::move(*opened);
    engine->use_threads(out.staged->threads);
  }
  std::vector<Series> series, warm_up(2 * SvmCopies::Count);
  for (const char* what : {"svm", "svm, pinned", "svm, staged"})
    for (const char* quantity : {"h2d", "d2h"}) series.push_back({quantity, what, {}});
  SvmCopies copies(session_, engine.get());
  const auto all = [&](std::vector<Series>& into) -> Status {
    for (size_t i = 0; i < into.size(); ++i) {
      const auto kind = static_cast<SvmCopies::Host>(i / 2);
      const auto way = static_cast<staging::Way>(i % 2);
      if (copies.has(kind)) GT_TRY(timed(copies.bytes(), into[i], [&] { return copies.copy(kind, way); }));
    }
    return {};
  };
  const auto prepare = [&](uint64_t bytes) -> Status {
    GT_TRY(copies.make(bytes));
    return all(warm_up);
  };
  GT_TRY(sweep_one({prepare, [&] { return all(series); }, {}}, series, sizes, pace));
  const auto both = [&](SvmCopies::Host kind) { return both_of({series[2 * kind], series[2 * kind + 1]}); };
  const auto standard = both(SvmCopies::Standard), pinned = both(SvmCopies::Pinned);
  if (standard && pinned) out.svm = model::SvmCosts{*standard, *pinned, both(SvmCopies::Staged)};
  return {};
}

Status DeviceProbe::rect(const std::vector<uint64_t>& sizes, const Pace& pace, model::DeviceCosts& out) {
  std::vector<Series> series = {{"h2d", "rect", {}}, {"d2h", "rect", {}}};
  Block block;
  uint64_t size = 0;
  const auto move = [&](bool to_device) {
    const size_t origin[3] = {}, row = std::min(size, RowBytes), region[3] = {row, size / row, 1}, pitch = 2 * row;
    const cl_command_queue queue = session_.queue();
    const cl_mem buffer = buffers_[0].get();
    return to_device ? cl_status("clEnqueueWriteBufferRect",
                                 clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, origin, origin, region, pitch, 0,
                                                          pitch, 0, block.data(), 0, nullptr, nullptr))
                     : cl_status("clEnqueueReadBufferRect",
                                 clEnqueueReadBufferRect(queue, buffer, CL_TRUE, origin, origin, region, pitch, 0,
                                                         pitch, 0, block.data(), 0, nullptr, nullptr));
  };
  const auto prepare = [&](uint64_t bytes) -> Status {
    size = bytes;
    GT_TRY(make_buffers(2 * bytes, 1));
    GT_TRY(block.make(session_, Policy::Standard, 2 * bytes));
    GT_TRY(move(true));
    return move(false);
  };
  const auto turn = [&]() -> Status {
    GT_TRY(timed(size, series[0], [&] { return move(true); }));
    return timed(size, series[1], [&] { return move(false); });
  };
  GT_TRY(sweep_one({prepare, turn, {}}, series, sizes, pace));
  out.rect = both_of(series);
  return {};
}

Status DeviceProbe::map(const std::vector<uint64_t>& sizes, const Pace& pace, model::DeviceCosts& out) {
  std::vector<Series> series = {{"map", "read", {}}, {"map", "write", {}}};
  uint64_t size = 0;
  const auto map_and_unmap = [&](cl_map_flags how) -> Status {
    cl_int err = CL_SUCCESS;
    const cl_mem buffer = buffers_[0].get();
    void* at = clEnqueueMapBuffer(session_.queue(), buffer, CL_TRUE, how, 0, size, 0, nullptr, nullptr, &err);
    GT_TRY(cl_status("clEnqueueMapBuffer", err));
    GT_TRY(cl_status("clEnqueueUnmapMemObject",
                     clEnqueueUnmapMemObject(session_.queue(), buffer, at, 0, nullptr, nullptr)));
    return session_.finish();
  };
  const auto prepare = [&](uint64_t bytes) -> Status {
    size = bytes;
    GT_TRY(make_buffers(bytes, 1));
    return map_and_unmap(CL_MAP_READ | CL_MAP_WRITE);
  };
  const auto turn = [&]() -> Status {
    GT_TRY(timed(size, series[0], [&] { return map_and_unmap(CL_MAP_READ); }));
    return timed(size, series[1], [&] { return map_and_unmap(CL_MAP_WRITE); });
  };
  GT_TRY(sweep_one({prepare, turn, {}}, series, sizes, pace));
  if (const auto both = both_of(series)) out.map = model::MapCosts{both->h2d, both->d2h};
  return {};
}

Status DeviceProbe::copy(const std::vector<uint64_t>& sizes, const Pace& pace, model::DeviceCosts& out) {
  std::vector<Series> series = {{"copy", "inside the device", {}}};
  uint64_t size = 0;
  const auto move = [&]() -> Status {
    GT_TRY(cl_status("clEnqueueCopyBuffer",
                     clEnqueueCopyBuffer(session_.queue(), buffers_[0].get(), buffers_[1].get(), 0, 0, size, 0,
                                         nullptr, nullptr)));
    return session_.finish();
  };
  const auto prepare = [&](uint64_t bytes) -> Status {
    size = bytes;
    GT_TRY(make_buffers(bytes, 2));
    const char zero = 0;
    GT_TRY(cl_status("clEnqueueFillBuffer", clEnqueueFillBuffer(session_.queue(), buffers_[0].get(), &zero, 1, 0,
                                                                bytes, 0, nullptr, nullptr)));
    return move();
  };
  GT_TRY(sweep_one({prepare, [&] { return timed(size, series[0], move); }, {}}, series, sizes, pace));
  if (!series[0].samples.empty()) out.copy = curve_of(series[0]);
  return {};
}

// From the driver's own memory, so that what is measured is the device and not the way into pageable memory.
Status DeviceProbe::duplex(const std::vector<uint64_t>& sizes, const Pace& pace, model::DeviceCosts& out) {
  std::vector<Series> series = {{"both at once", "opencl", {}}};
  Block blocks[2];
  uint64_t size = 0;
  const auto move = [&]() -> Status {
    const cl_command_queue to = session_.queue(), from = session_.second_queue();
    GT_TRY(cl_status("clEnqueueWriteBuffer", clEnqueueWriteBuffer(to, buffers_[0].get(), CL_FALSE, 0, size,
                                                                  blocks[0].data(), 0, nullptr, nullptr)));
    GT_TRY(cl_status("clEnqueueReadBuffer", clEnqueueReadBuffer(from, buffers_[1].get(), CL_FALSE, 0, size,
                                                                blocks[1].data(), 0, nullptr, nullptr)));
    GT_TRY(cl_status("clFlush", clFlush(to)));
    GT_TRY(cl_status("clFlush", clFlush(from)));
    GT_TRY(cl_status("clFinish", clFinish(to)));
    return cl_status("clFinish", clFinish(from));
  };
  const auto prepare = [&](uint64_t bytes) -> Status {
    size = bytes;
    GT_TRY(make_buffers(bytes, 2));
    for (Block& block : blocks) GT_TRY(block.make(session_, Policy::OpenCl, bytes));
    GT_TRY(session_.write(buffers_[1].get(), blocks[1].data(), bytes));
    return move();
  };
  GT_TRY(sweep_one({prepare, [&] { return timed(size, series[0], move); }, {}}, series, sizes, pace));
  if (!series[0].samples.empty()) out.duplex = curve_of(series[0]);
  return {};
}

Status DeviceProbe::launch(const Pace& pace, model::DeviceCosts& out) {
  Kernels kernels(session_);
  Result<Mem> buffer = session_.buffer(64);
  if (!buffer) return buffer.status();
  const auto launches = [&](int count) -> Result<double> {
    const double start = now_ns();
    for (int i = 0; i < count; ++i) GT_TRY(kernels.launch_empty(buffer->get()));
    GT_TRY(session_.finish());
    return (now_ns() - start) / count;
  };
  if (const auto first = launches(1); !first)  // compiles
    return first.status().kind() == Kind::Unsupported ? Status() : first.status();
  Pace half = pace;
  half.budget_s /= 2;
  const auto sync = measure([&] { return launches(1); }, half);
  if (!sync) return sync.status();
  const auto async = measure([&] { return launches(WindowLaunches); }, half);
  if (!async) return async.status();
  out.launch = model::LaunchCosts{sync->value, async->value};
  return {};
}

}  // namespace gt::bench
