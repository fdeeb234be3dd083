#include "tracer/lib/frames.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "tracer/interpose/loaded_modules.h"
#include "tracer/interpose/raw_memory.h"
#include "tracer/lib/unwind_table.h"

namespace gt::tracer {

namespace {

constexpr size_t CachedSteps = 1024;

struct Steps {
  uint32_t generation = 0;  // libraries asked for so far: a library that took another's place has other tables
  struct {
    uint64_t pc = 0;
    FrameStep step;
  } slots[CachedSteps];
};

__thread Steps* t_steps __attribute__((tls_model("initial-exec"))) = nullptr;

Steps* this_thread_steps() {
  const uint32_t generation = interpose::libraries_asked_for.load(std::memory_order_relaxed);
  if (t_steps && t_steps->generation == generation) return t_steps;
  if (t_steps) {
    std::memset(static_cast<void*>(t_steps), 0, sizeof(Steps));
  } else {
    void* p = interpose::raw_mmap(nullptr, sizeof(Steps), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return nullptr;
    t_steps = static_cast<Steps*>(p);  // zero pages: pc 0 is no address
  }
  t_steps->generation = generation;
  return t_steps;
}

const FrameStep& step_at(Steps& steps, uint64_t pc) {
  auto& slot = steps.slots[(pc * 0x9e3779b97f4a7c15ull) >> 54];
  static_assert(CachedSteps == 1 << (64 - 54));
  if (__builtin_expect(slot.pc != pc, 0)) {
    slot.step = find_step(pc);
    slot.pc = pc;
  }
  return slot.step;
}

struct Cursor {
  uint64_t pc, sp, fp;
};

bool on_stack(const Stack& stack, uint64_t sp, uint64_t at) { return at >= sp && at <= stack.high - 8 && at % 8 == 0; }
uint64_t word(uint64_t at) {
  uint64_t v;
  std::memcpy(&v, reinterpret_cast<const void*>(at), 8);
  return v;
}

// To the caller's frame. False: it cannot be known.
bool climb(const FrameStep& step, const Stack& stack, Cursor& c) {
  const auto from = [](uint64_t base, int32_t offset) { return base + static_cast<uint64_t>(int64_t{offset}); };
  uint64_t cfa = 0;
  switch (step.cfa) {
    case FrameStep::Cfa::Unknown:
      return false;
    case FrameStep::Cfa::Sp:
      cfa = from(c.sp, step.cfa_offset);
      break;
    case FrameStep::Cfa::Fp:
      cfa = from(c.fp, step.cfa_offset);
      break;
    case FrameStep::Cfa::AtFp: {
      const uint64_t at = from(c.fp, step.cfa_offset);
      if (!on_stack(stack, c.sp, at)) return false;
      cfa = word(at);
    }
  }
  if (cfa <= c.sp || !on_stack(stack, c.sp, cfa - 8)) return false;
  if (step.fp == FrameStep::Fp::AtCfa || step.fp == FrameStep::Fp::AtFp) {
    const uint64_t at = from(step.fp == FrameStep::Fp::AtCfa ? cfa : c.fp, step.fp_offset);
    if (!on_stack(stack, c.sp, at)) return false;
    c.fp = word(at);
  } else if (step.fp == FrameStep::Fp::Unknown) {
    c.fp = 0;
  }
  c.pc = word(cfa - 8);
  c.sp = cfa;
  return true;
}

}  // namespace

#if defined(__x86_64__)

__attribute__((noinline)) size_t find_frames(const void* site, const Stack& stack, std::span<uint64_t, MaxFrames> out) {
  Cursor c;
  asm volatile("lea 0(%%rip), %0\n mov %%rsp, %1\n mov %%rbp, %2" : "=&r"(c.pc), "=&r"(c.sp), "=&r"(c.fp));
  if (c.sp < stack.low || c.sp >= stack.high) return 0;
  Steps* steps = this_thread_steps();
  if (!steps) return 0;
  constexpr int OwnFrames = 8;  // between us and the program
  for (int i = 0; c.pc != reinterpret_cast<uint64_t>(site); ++i) {
    if (i == OwnFrames || !climb(step_at(*steps, c.pc), stack, c)) return 0;
  }
  uint64_t functions[MaxFrames];
  for (size_t n = 0; n < MaxFrames; ++n) {
    const FrameStep step = step_at(*steps, c.pc);
    functions[n] = step.function;
    for (size_t i = 0; i < n; ++i) {
      if (functions[i] == step.function) return n - 1;
    }
    if (!climb(step, stack, c) || c.pc == 0) return n;
    out[n] = c.pc;
  }
  return MaxFrames;
}

#else

size_t find_frames(const void*, const Stack&, std::span<uint64_t, MaxFrames>) { return 0; }

#endif

void forget_frames() {
  if (t_steps) interpose::raw_munmap(t_steps, sizeof(Steps));
  t_steps = nullptr;
}

}  // namespace gt::tracer
