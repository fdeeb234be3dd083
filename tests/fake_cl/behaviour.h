// What the fake driver does besides what OpenCL says: small behaviours, which may be combined. A process sets them by
// its environment; a test that links the driver, by behaviour() and refuse_at.
//
//   FAKE_CL_FAIL="clEnqueueWriteBuffer:3=-5,clCreateBuffer=-4"   the 3rd call returns -5; every call returns -4
//   FAKE_CL_LOST="57=-36"           the device vanishes: the process's 57th call, of whatever function, and all
//                                   after it return -36
//   FAKE_CL_SAY=1                   a line on stderr for each of these failures
//   FAKE_CL_DELAY="clEnqueueReadBuffer=2ms,clFinish=50us"        each call takes that long before it works
//   FAKE_CL_KERNEL_NS=1000          device time of a launch
//   FAKE_CL_VENDOR_ID=4318          of the device, 1 without it
//   FAKE_CL_LARGEST=65536           the largest buffer, in bytes; 1 GiB without it
//   FAKE_CL_CALLBACKS=thread        each callback runs on a new thread, and the driver waits for it (callbacks.h)
//   FAKE_CL_NATIVE=pointer          native kernels without arguments are given a pointer of the driver's, not NULL
//   FAKE_CL_NEWER=1                 the device is of OpenCL 3.1 and has more extensions (newer.h)
//   FAKE_CL_LATER_FORMS=1           updates of commands and barriers have the form of later versions
//   FAKE_CL_LEAVES_EVENTS=1         a command refused by FAKE_CL_FAIL gives its event all the same; at the end it says
//                                   how many events nobody has released
// A word that cannot be read ends the process with one line and status 2: a test must not run
// something else. Thread safety: all but behaviour(), which is set while no other thread calls the driver.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "traces/api/fn_id.h"

namespace gt::fake {

constexpr uint32_t MostDevices = 2;

// "crash", "hang", "empty": what a library is by itself, whatever the environment says (odd_platform.cc); "" otherwise.
const char* built_in();

struct Rule {
  std::string name;   // of a function
  uint64_t call = 0;  // 0: every one
  int error = 0;
  uint64_t delay_ns = 0;
};

struct Behaviour {
  Rule lost;
  std::vector<Rule> failures, delays;
  bool says_failures = false;
  uint64_t kernel_ns = 1000;
  uint32_t vendor_id = 1;
  uint64_t largest_buffer = uint64_t{1} << 30;
  bool calls_back_on_threads = false;
  bool gives_native_pointers = false;
  bool has_later_forms = false;
  bool leaves_events = false;
  bool is_newer = false;
  enum class Start : uint8_t { Works, Crashes, Hangs } start = Start::Works;  // when it is asked for its platform
  uint32_t devices = 1;                                                       // at most MostDevices; 0: another name

  // When commands run (held.h): when they are enqueued, when somebody waits for them, or flush by flush.
  enum class Runs : uint8_t { AtOnce, WhenWaitedFor, ByFlush } runs = Runs::AtOnce;
  bool flush_finishes = false;  // clFlush comes back when nothing is left to run
  bool imports_memory = false;  // of descriptors; devices have a UUID, whose fourth byte is their number
};
Behaviour& behaviour();  // at first as the environment says

// Counts the call, waits, and returns the error to give, 0 for none.
int begin_call(uint16_t fn, const char* name);
uint64_t calls_of(api::FnId fn);

// What every call gives since the device has vanished; 0: it is there. Waiting for it ends, too.
int loss();

// Calls that make an object or enqueue a command, whatever their function: how many there were, and the number of the
// one that is refused, from 0. A test may count what else it wants refused by refuse().
extern std::atomic<int> made_calls, refuse_at;
bool refuse();

void start_anew();  // counts are 0, and nothing is odd, whatever the environment says

}  // namespace gt::fake
