// The rare half of the recorder: claiming and giving back rings, waiting, fork, module lists.
#include "tracer/lib/recorder.h"

#include "tracer/lib/count_tables.h"
#include "tracer/lib/frames.h"
#include "tracer/lib/own_stack.h"
#include "tracer/lib/process_state.h"
#include "tracer/lib/ring_memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tracer/interpose/loaded_modules.h"
#include "tracer/interpose/uncancelled.h"
#include "traces/base/reentry.h"

namespace gt::tracer {

__thread Ring* t_ring __attribute__((tls_model("initial-exec"))) = nullptr;

namespace detail {
SpoolHeader* g_spool = nullptr;
bool g_stopped = false;
}  // namespace detail

using detail::g_spool;
using detail::g_stopped;

namespace {

__thread Ring t_ring_storage __attribute__((tls_model("initial-exec")));
__thread bool t_without_ring __attribute__((tls_model("initial-exec"))) = false;

pthread_key_t g_thread_end;
int g_pid = 0;
std::atomic<int> g_process_recorded{0};  // pid whose Process and Module records are written, or about to be
bool g_forked = false;       // without an exec since: one thread is left, and perhaps locks of those that are gone

int current_tid() { return static_cast<int>(syscall(SYS_gettid)); }

void end_ring(void*) {
  Ring* ring = t_ring;
  if (!ring) return;
  record(RecordType::ThreadEnd, 0, ticks());
  t_ring = nullptr;  // a later destructor of the thread may claim another one
  leave_counts();
  forget_frames();
  ring->header->state.store(RingState::Ended, std::memory_order_release);
}

// The child has one thread and none of the parent's rings; `busy` records of the parent are not
// ours to finish.
void after_fork_in_child() {
  t_ring = nullptr;
  leave_counts();
  t_ring_storage.header = nullptr;
  t_without_ring = false;
  g_pid = getpid();
  g_forked = true;
  if (!program_runs())
    g_stopped = true;  // forked by the driver: a compiler or linker, not the program
}

// For who looks at the spool: a thread of the program waits for the collector.
class Waiting {
 public:
  explicit Waiting(uint64_t since) : since_(since) {}
  ~Waiting() {
    uint64_t ours = since_;
    g_spool->waiting_since.compare_exchange_strong(ours, 0, std::memory_order_relaxed);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  // Now and then: whoever was told before may have stopped waiting.
  void tell() const {
    uint64_t nobody = 0;
    g_spool->waiting_since.compare_exchange_strong(nobody, since_, std::memory_order_relaxed);
  }

 private:
  uint64_t since_;
};

// A program whose threads come and go faster than the collector empties their rings waits for it. -1: none to be had.
int take_ring() {
  const Waiting waiting(ticks());
  for (uint32_t tries = 0;; ++tries) {
    const int index = try_to_take_ring();
    if (index >= 0 || !recording() || !a_ring_has_ended()) return index;
    waiting.tell();
    if (tries % 64 == 63 && !process_lives(g_spool->collector_pid, g_spool->collector_start)) return -1;
    const timespec nap{0, 100'000};
    nanosleep(&nap, nullptr);
  }
}

// A child that another thread than the first has forked goes on on that one's stack.
bool is_first_thread(const RingHeader& header) { return header.path.depth == 0 && header.tid == header.pid; }

// Executable path and arguments, as /proc has them, each ended by a zero; cut where `text` ends.
void record_process() {
  char text[8192] = {};
  constexpr size_t PathBytes = 4095, Most = sizeof text - 1;
  const ssize_t path = readlink("/proc/self/exe", text, PathBytes);
  size_t length = (path > 0 ? static_cast<size_t>(path) : 0) + 1;
  const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    const ssize_t n = read(fd, text + length, Most - PathBytes - 1);
    if (n > 0) length += static_cast<size_t>(n);
    close(fd);
  }
  record_text(RecordType::Process, static_cast<uint64_t>(g_pid), static_cast<uint64_t>(getppid()), text, length + 1);
}

}  // namespace

bool ring_is_over() { return !t_ring && t_ring_storage.header; }

void start_recording() {
  if (g_spool) return;
  const char* path = getenv(SpoolVariable);
  if (!path) return;
  const Reentry guard;
  SpoolHeader* const header = open_spool(path);
  if (!header || pthread_key_create(&g_thread_end, end_ring) != 0) return;
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  g_pid = getpid();
  g_spool = header;
}

Ring* claim_ring() {
  if (!recording() || t_without_ring) return nullptr;
  const Reentry guard;  // what pthread and libc allocate on our behalf is not the program's
  const interpose::Uncancelled whole;
  const int saved_errno = errno;
  const int index = take_ring();
  if (index < 0) {
    t_without_ring = true;
    g_spool->threads_without_ring.fetch_add(1, std::memory_order_relaxed);
    errno = saved_errno;
    return nullptr;
  }
  Ring& ring = t_ring_storage;
  ring = Ring{};
  ring.header = ring_header(static_cast<uint32_t>(index));
  ring.data = reinterpret_cast<uint8_t*>(ring.header) + PageBytes;
  ring.mask = g_spool->ring_bytes - 1;
  ring.next = &ring.header->next;
  ring.position = ring.segment_start = ring.header->head.load(std::memory_order_relaxed);
  ring.limit = ring.header->tail.load(std::memory_order_acquire) + g_spool->ring_bytes;
  ring.index = static_cast<uint32_t>(index);
  ring.header->pid = g_pid;
  ring.header->tid = current_tid();
  ring.header->parent_pid = getppid();
  ring.header->path = interpose::t_path;
  ring.header->driver = t_flags.muted;
  ring.header->base = 0;
  ring.header->repeats = Repeats();
  std::memset(ring.header->forms, 0, sizeof ring.header->forms);
  take_counts(ring);
  const Stack stack = own_stack(is_first_thread(*ring.header));
  ring.header->stack_low = stack.low;
  ring.header->stack_high = stack.high;
  t_ring = &ring;
  pthread_setspecific(g_thread_end, &ring);
  if (g_process_recorded.exchange(g_pid, std::memory_order_relaxed) != g_pid) {
    record_process();
    record_modules();
  }
  errno = saved_errno;
  return &ring;
}

static bool has_space(Ring& ring, uint64_t bytes) {
  const uint64_t tail = ring.header->tail.load(std::memory_order_acquire);
  ring.limit = (tail > ring.segment_start ? tail : ring.segment_start) + ring.mask + 1;
  return ring.position + bytes <= ring.limit;
}

bool wait_for_space(Ring& ring, uint64_t bytes) {
  if (has_space(ring, bytes)) return true;
  const uint64_t begin = ticks();
  const interpose::Uncancelled whole;
  const int saved_errno = errno;
  if (recording() && go_on_in_segment(ring)) {
    errno = saved_errno;
    return true;
  }
  const Waiting waiting(begin);
  bool alive = true;
  for (uint32_t tries = 0;; ++tries) {
    // A segment may be free again long before the collector comes to this ring's newest one.
    if (has_space(ring, bytes) || (tries % 16 == 15 && recording() && go_on_in_segment(ring))) break;
    if (g_stopped || g_spool->off.load(std::memory_order_relaxed) == RecordingEnded) {
      alive = false;
      break;
    }
    if (tries < 200) {
      for (int i = 0; i < 20; ++i) relax();
      continue;
    }
    waiting.tell();
    if (tries % 64 == 0 && !process_lives(g_spool->collector_pid, g_spool->collector_start)) {
      g_spool->off.store(RecordingEnded, std::memory_order_relaxed);  // what is in the spool can still be recovered
    }
    const timespec nap{0, 50'000};
    nanosleep(&nap, nullptr);
  }
  ring.header->wait_ticks.fetch_add(ticks() - begin, std::memory_order_relaxed);
  errno = saved_errno;
  return alive;
}

void record_text(RecordType type, uint64_t a, uint64_t b, const char* text, size_t length) {
  Ring* ring = t_ring;
  const auto bytes = static_cast<uint32_t>(sizeof(RecordHeader) + 16 + ((length + 7) & ~size_t{7}));
  uint8_t* at = reserve(*ring, type, 0, bytes, ticks());
  if (!at) return;
  std::memcpy(at, &a, 8);
  std::memcpy(at + 8, &b, 8);
  std::memset(at + 16, 0, bytes - sizeof(RecordHeader) - 16);
  std::memcpy(at + 16, text, length);
  commit(*ring, bytes);
}

void record_modules() {
  if (!this_ring()) return;
  auto record_one = [](const interpose::ModuleInfo& module) {
    char text[4200];
    const size_t id = std::strlen(module.build_id), path = std::strlen(module.path);
    if (id + path + 2 > sizeof text) return;
    std::memcpy(text, module.build_id, id + 1);
    std::memcpy(text + id + 1, module.path, path + 1);
    record_text(RecordType::Module, module.bias, module.end, text, id + path + 2);
  };
  // Of a forked child no thread can be in the list; but one that is gone may have been, and have kept its lock.
  if (!g_forked || !interpose::for_each_module_unlocked(record_one)) interpose::for_each_module(record_one);
}

}  // namespace gt::tracer
