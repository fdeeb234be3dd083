// The stack walk: against the compiler's own idea of who called, and through code that it must give up on.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "tests/unit/libcs_stack.h"
#include "tracer/lib/frames.h"
#include "tracer/lib/unwind_table.h"

using namespace gt::tracer;

namespace {

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

struct Walk {
  const void* callers[4];  // as the compiler knows them
  uint64_t frames[MaxFrames] = {};
  size_t count = 0;
};
volatile int g_keep;  // after each call: no tail calls

APART void innermost(Walk& w) {
  w.callers[0] = __builtin_return_address(0);
  w.count = find_frames(w.callers[0], libcs_stack(), std::span<uint64_t, MaxFrames>(w.frames));
  g_keep = 1;
}
APART void with_locals(Walk& w, size_t bytes) {  // a frame whose size is known only when it runs
  w.callers[1] = __builtin_return_address(0);
  auto* local = static_cast<volatile char*>(__builtin_alloca(bytes));
  local[0] = 1;
  innermost(w);
  g_keep = local[0];
}
APART void realigned(Walk& w) {  // a frame that is aligned more than the stack
  alignas(128) volatile char local[256];
  w.callers[2] = __builtin_return_address(0);
  local[0] = 1;
  with_locals(w, 100 + static_cast<size_t>(local[0]));
  g_keep = local[0];
}
APART void outermost(Walk& w) {
  w.callers[3] = __builtin_return_address(0);
  realigned(w);
  g_keep = 1;
}
APART void recursive(Walk& w, int depth) {
  if (depth > 0) {
    recursive(w, depth - 1);
  } else {
    innermost(w);
  }
  g_keep = depth;
}

}  // namespace

#if defined(__x86_64__)

TEST_CASE("frames are the callers") {
  for (int round = 0; round < 3; ++round) {  // the first is cold
    Walk w;
    outermost(w);
    REQUIRE(w.count >= 3);
    for (size_t i = 0; i < 3; ++i) CHECK(w.frames[i] == reinterpret_cast<uint64_t>(w.callers[i + 1]));
    if (round == 1) forget_frames();
  }
  forget_frames();
}

TEST_CASE("the walk ends at recursion") {
  Walk w;
  recursive(w, 5);
  CHECK(w.count == 0);  // `recursive` calls itself: whoever calls it comes after that
}

TEST_CASE("another stack and a site that is not there are not walked") {
  uint64_t out[MaxFrames];
  const std::span<uint64_t, MaxFrames> frames(out);
  CHECK(find_frames(__builtin_return_address(0), {0x1000, 0x2000}, frames) == 0);
  CHECK(find_frames(static_cast<const void*>(frames.data()), libcs_stack(), frames) == 0);
}

#endif

TEST_CASE("no step at what is no code") {
  CHECK(find_step(0).cfa == FrameStep::Cfa::Unknown);
  CHECK(find_step(1).cfa == FrameStep::Cfa::Unknown);
  CHECK(find_step(~uint64_t{0}).cfa == FrameStep::Cfa::Unknown);
  static const char Data[64] = {};
  CHECK(find_step(reinterpret_cast<uint64_t>(Data + 32)).cfa == FrameStep::Cfa::Unknown);
  std::vector<char> heap(64);
  CHECK(find_step(reinterpret_cast<uint64_t>(heap.data())).cfa == FrameStep::Cfa::Unknown);
}
