// How the injected library asks goptimize what a device costs: slots in a file that both map. goptimize measures what
// a program opens, when it opens it (docs/decisions/0026).
//
// A slot goes from Free through Writing (a process has it) and Asked to Answered, and stays there: whoever asks for the
// same device later has its answer. Answered means that the plan's file holds what can be known in this run.
// goptimize counts `beats` while it lives; who waits and sees none for a while goes on without an answer.
//
// The reader trusts nothing: the program can write here. Thread safety: all functions, in all processes. Allocates
// nothing; no function is a cancellation point.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(hidden)

namespace gt::opt {

constexpr uint64_t RequestsMagic = 0x3173747365757172u;                      // "rquests1"
constexpr const char* RequestsVariable = "GTRACE_OPT_REQUESTS";  // path of the file

// What tells one device from others, as in the platform file. REQUIRES: each text ends inside its field.
struct DeviceTexts {
  char platform[192];  // CL_PLATFORM_NAME
  char name[192];      // CL_DEVICE_NAME
  char driver[64];     // CL_DRIVER_VERSION
};

struct RequestSlot {
  enum State : uint32_t { Free, Writing, Asked, Answered };
  std::atomic<uint32_t> state;
  uint32_t reserved;
  DeviceTexts device;
};

struct Requests {
  static constexpr size_t Slots = 32;

  uint64_t magic;
  uint64_t size;      // of this struct
  uint64_t limit_ms;  // how long a program may wait in all; 0: goptimize has ended, nobody answers
  std::atomic<uint64_t> beats;
  RequestSlot slots[Slots];

  // Asks, and waits until that is answered, goptimize is gone, or `limit_ms` and a bit more are over. True: answered.
  bool ask(const DeviceTexts& device) noexcept;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// The file that the environment names; nullptr: none, or it is not what it should be.
Requests* map_requests() noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
