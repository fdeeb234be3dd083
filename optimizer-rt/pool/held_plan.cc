// Reading plans from their file.
#include "optimizer-rt/pool/held_plan.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "traces/base/fd.h"

namespace gt::opt {
namespace {

// A private copy of the file: what others do to it afterwards cannot hurt.
std::span<const std::byte> read_file(const char* path, size_t limit) {
  const Fd file(::open(path, O_RDONLY | O_CLOEXEC));
  struct stat st {};
  if (!file.open() || ::fstat(file.get(), &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
    return {};
  const size_t size = static_cast<size_t>(st.st_size);
  if (size > limit) return {};
  void* copy = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return {};
  if (::pread(file.get(), copy, size, 0) != static_cast<ssize_t>(size)) return {};
  return {static_cast<const std::byte*>(copy), size};
}

PlanView read_plan_at(const char* path) {
  constexpr size_t Largest =
      sizeof(PlanHeader) + MaxPlanDevices * sizeof(PlanDevice) + MaxSites * sizeof(PlanSite);
  return read_plan(read_file(path, Largest));
}

bool same(const PlanDevice& a, const PlanDevice& b) {
  return std::strcmp(a.name, b.name) == 0 && std::strcmp(a.driver, b.driver) == 0;
}

}  // namespace

bool continues(const PlanView& before, const PlanView& later) noexcept {
  return later.devices.size() >= before.devices.size() &&
         std::equal(before.devices.begin(), before.devices.end(), later.devices.begin(), same);
}

bool HeldPlan::open(const char* path) noexcept {
  const PlanView plan = read_plan_at(path);
  if (!plan.header || std::strlen(path) >= MaxPath) return false;
  std::strcpy(path_, path);
  views_[1] = plan;
  now_.store(1, std::memory_order_release);
  return true;
}

PlanView HeldPlan::read_later() noexcept {
  const uint32_t next = now_.load(std::memory_order_relaxed) + 1;
  const PlanView& before = get();
  PlanView later = next < Views ? read_plan_at(path_) : PlanView();
  if (!later.header || !continues(before, later)) return {};
  if (before.sites.empty()) return later;
  PlanHeader& header = headers_[next];
  header = *before.header;
  header.devices = later.header->devices;
  header.asks = later.header->asks;
  header.staging = later.header->staging;
  header.copy_threads = later.header->copy_threads;
  header.touch_ns_per_byte = later.header->touch_ns_per_byte;
  later.header = &header;
  later.sites = before.sites;
  return later;
}

void HeldPlan::hold(const PlanView& later) noexcept {
  const uint32_t next = now_.load(std::memory_order_relaxed) + 1;
  views_[next] = later;
  now_.store(next, std::memory_order_release);
}

}  // namespace gt::opt
