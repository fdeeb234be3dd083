// Measures allocation and transfer costs of one device.
//
// For every size the policies take turns, so that a disturbance of the machine hits all of them
// alike: what counts later is their difference. One turn makes a block under the policy (timed),
// transfers it both ways some times (timed, after one untimed transfer) and releases it (timed with
// the making). Turns repeat until the size's share of the budget is spent, a few times at least.
#include "microbench/probes/transfer_costs.h"

#include <malloc.h>

#include <memory>

#include "microbench/sampler.h"
#include "traces/model/curve_fit.h"
#include "transport/memory/host_block.h"

namespace gt::bench {
namespace {

using memory::ClPlace;
using memory::HostBlock;
using model::Policy;
using model::PolicyCount;

constexpr int MinTurns = 3, MinTurnsLarge = 2;  // the latter for the slowest sizes of a quick run
constexpr uint64_t LargeBytes = 64 << 20;
constexpr int MaxTurns = 40;
constexpr double NoiseFrom = 64 << 10;  // bytes: below, call costs dominate and no policy differs

struct ReleaseQueue {
  void operator()(cl_command_queue q) const { clReleaseCommandQueue(q); }
};
struct ReleaseContext {
  void operator()(cl_context c) const { clReleaseContext(c); }
};
struct ReleaseMem {
  void operator()(cl_mem m) const { clReleaseMemObject(m); }
};
using Queue = std::unique_ptr<std::remove_pointer_t<cl_command_queue>, ReleaseQueue>;
using Context = std::unique_ptr<std::remove_pointer_t<cl_context>, ReleaseContext>;
using Mem = std::unique_ptr<std::remove_pointer_t<cl_mem>, ReleaseMem>;

Status cl_error(const char* what, cl_int err) {
  return Status(Kind::OpenCl, std::string(what) + " failed (" + std::to_string(err) + ")", err);
}

std::vector<uint64_t> sizes_to_measure(bool quick, uint64_t max_bytes) {
  std::vector<uint64_t> sizes;
  const uint64_t factor = quick ? 4 : 2;
  for (uint64_t s = 64; s <= max_bytes; s *= factor)
    if (!quick || s >= 4096 || s == 64) sizes.push_back(s);
  return sizes;
}

class DeviceProbe {
 public:
  DeviceProbe(const Device& device, const CostOptions& options)
      : x_device(device), x_options(options) {}

  Status open() {
    cl_int err = CL_SUCCESS;
    const cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(x_device.platform_id), 0};
    x_context.reset(clCreateContext(properties, 1, &x_device.id, nullptr, nullptr, &err));
    if (err != CL_SUCCESS) return cl_error("clCreateContext", err);
    x_queue.reset(clCreateCommandQueue(x_context.get(), x_device.id, 0, &err));
    if (err != CL_SUCCESS) return cl_error("clCreateCommandQueue", err);
    x_place = {
        {clCreateBuffer, clReleaseMemObject, clEnqueueMapBuffer, clEnqueueUnmapMemObject, clFinish},
        x_context.get(),
        x_queue.get()};
    return {};
  }

  Result<DeviceResult> run() {
    const std::vector<uint64_t> sizes = sizes_to_measure(x_options.quick, largest());
    for (size_t i = 0; i < sizes.size(); ++i) {
      x_options.progress(static_cast<double>(i) / static_cast<double>(sizes.size()));
      GT_TRY(measure_size(sizes[i], x_options.budget_s * 1e9 / static_cast<double>(sizes.size())));
    }
    return result();
  }

 private:
  uint64_t largest() const {
    const uint64_t host = model::this_machine().memory_bytes / 8;
    return std::min(
        {x_options.max_bytes, host, x_device.memory_bytes / 4, x_device.max_buffer_bytes});
  }

  Status measure_size(uint64_t bytes, double budget_ns) {
    cl_int err = CL_SUCCESS;
    Mem buffer(clCreateBuffer(x_context.get(), CL_MEM_READ_WRITE, bytes, nullptr, &err));
    if (err != CL_SUCCESS) return cl_error("clCreateBuffer", err);
    const double end = now_ns() + budget_ns;
    const int least = x_options.quick && bytes >= LargeBytes ? MinTurnsLarge : MinTurns;
    for (int turn = 0; turn < MaxTurns && (turn < least || now_ns() < end); ++turn)
      for (size_t p = 0; p < PolicyCount; ++p)
        GT_TRY(take_turn(static_cast<Policy>(p), bytes, buffer.get()));
    return {};
  }

  Status take_turn(Policy policy, uint64_t bytes, cl_mem buffer) {
    const size_t p = static_cast<size_t>(policy);
    if (x_refused[p]) return {};
    CostSamples& out = x_samples[p];
    const double size = static_cast<double>(bytes);
    const double start = now_ns();
    Result<HostBlock> made = HostBlock::make(x_place, policy, bytes);
    double allocation = now_ns() - start;
    if (!made) {
      if (policy == Policy::Standard) return made.status();
      x_refused[p] = true;
      return {};
    }
    {
      HostBlock block = std::move(*made);
      GT_TRY(transfer(block, buffer, nullptr, nullptr));
      const int repeats = bytes < (4 << 20) ? 5 : 2;
      for (int i = 0; i < repeats; ++i) {
        double h2d = 0, d2h = 0;
        GT_TRY(transfer(block, buffer, &h2d, &d2h));
        out.h2d.push_back({size, h2d});
        out.d2h.push_back({size, d2h});
      }
      const double release = now_ns();
      { const HostBlock gone = std::move(block); }
      allocation += now_ns() - release;
    }
    out.allocation.push_back({size, allocation});
    x_largest[p] = bytes;
    return {};
  }

  Status transfer(const HostBlock& block, cl_mem buffer, double* h2d, double* d2h) {
    const double start = now_ns();
    cl_int err = clEnqueueWriteBuffer(x_queue.get(), buffer, CL_TRUE, 0, block.size(), block.data(),
                                      0, nullptr, nullptr);
    if (err != CL_SUCCESS) return cl_error("clEnqueueWriteBuffer", err);
    const double middle = now_ns();
    err = clEnqueueReadBuffer(x_queue.get(), buffer, CL_TRUE, 0, block.size(), block.data(), 0,
                              nullptr, nullptr);
    if (err != CL_SUCCESS) return cl_error("clEnqueueReadBuffer", err);
    if (h2d) *h2d = middle - start;
    if (d2h) *d2h = now_ns() - middle;
    return {};
  }

  DeviceResult result() {
    DeviceResult out;
    out.costs.platform = x_device.platform;
    out.costs.name = x_device.name;
    out.costs.driver = x_device.driver;
    for (size_t p = 0; p < PolicyCount; ++p) {
      if (x_largest[p] == 0) continue;
      model::PolicyCosts c;
      c.allocation = model::fit_curve(x_samples[p].allocation);
      c.h2d = model::fit_curve(x_samples[p].h2d);
      c.d2h = model::fit_curve(x_samples[p].d2h);
      c.max_bytes = x_refused[p] ? x_largest[p] : 0;
      c.noise = std::max(noise(x_samples[p].h2d), noise(x_samples[p].d2h));
      out.costs.policies[p] = std::move(c);
    }
    out.samples = std::move(x_samples);
    return out;
  }

  // The worst of the sizes at which policies can differ.
  static double noise(const std::vector<model::Knot>& samples) {
    double worst = 0;
    for (size_t i = 0; i < samples.size();) {
      const double size = samples[i].size;
      std::vector<double> group;
      for (; i < samples.size() && samples[i].size == size; ++i) group.push_back(samples[i].ns);
      if (size >= NoiseFrom) worst = std::max(worst, median_noise(group));
    }
    return std::min(worst, 1.0);
  }

  const Device& x_device;
  const CostOptions& x_options;
  Context x_context;
  Queue x_queue;
  ClPlace x_place;
  std::array<CostSamples, PolicyCount> x_samples;
  std::array<bool, PolicyCount> x_refused{};
  std::array<uint64_t, PolicyCount> x_largest{};
};

}  // namespace

Result<DeviceResult> measure_transfer_costs(const Device& device, const CostOptions& options) {
  // Large blocks come from mmap each time, as in a program's first allocation; the C library would
  // otherwise learn from our frees and hand out touched memory.
  ::mallopt(M_MMAP_THRESHOLD, 128 << 10);
  DeviceProbe probe(device, options);
  GT_TRY(probe.open());
  return probe.run();
}

}  // namespace gt::bench
