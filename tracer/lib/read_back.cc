#include "tracer/lib/read_back.h"

#include <sys/mman.h>
#include <time.h>

#include <atomic>
#include <cerrno>

#include "tracer/interpose/raw_memory.h"
#include "tracer/lib/capture_choice.h"
#include "tracer/lib/contents.h"
#include "tracer/lib/queue_states.h"
#include "tracer/lib/real_calls.h"
#include "traces/base/clock.h"

namespace gt::tracer {

using api::FnId;
using api::ObjectKind;

namespace {

constexpr uint64_t LongestWait_ns = 60'000'000'000;  // for commands that nobody holds up
constexpr uint64_t HeldUp_ns = 300'000'000;          // where the program may have to do something first

std::atomic<int> g_user_events{0};
std::atomic<int> g_left_alone{0};  // reads that are not over yet

struct Pages {
  void* at = nullptr;
  size_t size = 0;
};

Pages map_pages(size_t size) {
  const int saved_errno = errno;
  void* const at = interpose::raw_mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  errno = saved_errno;
  return at == MAP_FAILED ? Pages{} : Pages{at, size};
}
void unmap_pages(const Pages& pages) {
  const int saved_errno = errno;
  interpose::raw_munmap(pages.at, pages.size);
  errno = saved_errno;
}

// CL_COMPLETE, an error, or what it still is.
cl_int state_of(cl_event event) {
  const auto get = real<decltype(clGetEventInfo)>(FnId::clGetEventInfo);
  cl_int state = CL_INVALID_EVENT;
  if (get) get(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr);
  return state;
}
void release(cl_event event) {
  if (const auto drop = real<decltype(clReleaseEvent)>(FnId::clReleaseEvent)) drop(event);
}

// Reads that were left to themselves.
struct Left {
  enum State : uint32_t { Free, Busy, Full };
  std::atomic<uint32_t> state{Free};
  cl_event event = nullptr;
  cl_command_queue queue = nullptr;
  Pages pages;
};
constexpr size_t MostLeft = 32;
Left g_left[MostLeft];

// Forgets those that are over. Is there room for one more, and none that a read on this queue would stand behind?
bool room_for_another(cl_command_queue queue) {
  bool room = false, behind = false;
  for (Left& left : g_left) {
    uint32_t full = Left::Full;
    if (!left.state.compare_exchange_strong(full, Left::Busy, std::memory_order_acquire)) {
      room |= full == Left::Free;
      continue;
    }
    const bool over = state_of(left.event) <= CL_COMPLETE;
    if (over) {
      g_left_alone.fetch_sub(1, std::memory_order_relaxed);
      release(left.event);
      unmap_pages(left.pages);
    } else {
      behind |= left.queue == queue;
    }
    room |= over;
    left.state.store(over ? Left::Free : Left::Full, std::memory_order_release);
  }
  return room && !(behind && in_order(queue));
}

void leave(cl_event event, cl_command_queue queue, const Pages& pages) {
  g_left_alone.fetch_add(1, std::memory_order_relaxed);
  for (Left& left : g_left) {
    uint32_t free = Left::Free;
    if (!left.state.compare_exchange_strong(free, Left::Busy, std::memory_order_acquire)) continue;
    left.event = event;
    left.queue = queue;
    left.pages = pages;
    left.state.store(Left::Full, std::memory_order_release);
    return;
  }  // else they are ours for ever
}

// Is it complete? False, and nothing is known of it: somebody else must do something first.
bool wait_for(cl_event event, cl_int& state) {
  const bool held_up = g_user_events.load(std::memory_order_relaxed) > 0 || g_left_alone.load() > 0;
  const uint64_t began = monotonic_ns(), most = held_up ? HeldUp_ns : LongestWait_ns;
  for (uint32_t turn = 0; (state = state_of(event)) > CL_COMPLETE; ++turn) {
    if (turn < 64) continue;
    if (monotonic_ns() - began > most) return false;
    const timespec nap{0, turn < 256 ? 20'000 : 200'000};
    nanosleep(&nap, nullptr);
  }
  return true;
}

// enqueue(pages, event): a command that fills them.
template <class Enqueue>
Content read(size_t size, const ReadPlace& place, Enqueue enqueue) {
  if (size == 0 || !room_for_another(place.queue)) return {};
  const Pages pages = map_pages(size);
  if (!pages.at) return {};
  const int saved_errno = errno;
  cl_event event = nullptr;
  cl_int state = CL_INVALID_OPERATION;
  Content content;
  if (enqueue(pages.at, &event) == CL_SUCCESS && event) {
    if (const auto flush = real<decltype(clFlush)>(FnId::clFlush)) flush(place.queue);
    if (!wait_for(event, state)) {
      leave(event, place.queue, pages);
      errno = saved_errno;
      return {};
    }
    release(event);
    if (state == CL_COMPLETE) content = take_content(pages.at, {0, size});
  }
  unmap_pages(pages);
  errno = saved_errno;
  return content;
}

template <class T>
T image_fact(cl_mem image, cl_image_info name) {
  const auto get = real<decltype(clGetImageInfo)>(FnId::clGetImageInfo);
  T value{};
  return get && get(image, name, sizeof value, &value, nullptr) == CL_SUCCESS ? value : T{};
}

// All of an image: its first mipmap level is all there is, or nobody knows.
Content read_image(cl_mem image, const ReadPlace& place) {
  const auto read_image = real<decltype(clEnqueueReadImage)>(FnId::clEnqueueReadImage);
  if (!read_image || image_fact<cl_uint>(image, CL_IMAGE_NUM_MIP_LEVELS) > 1) return {};
  const auto at_least_one = [&](cl_image_info name) { return std::max<size_t>(image_fact<size_t>(image, name), 1); };
  size_t region[3] = {at_least_one(CL_IMAGE_WIDTH), at_least_one(CL_IMAGE_HEIGHT), at_least_one(CL_IMAGE_DEPTH)};
  const size_t array = image_fact<size_t>(image, CL_IMAGE_ARRAY_SIZE);
  if (array > 0) (image_fact<size_t>(image, CL_IMAGE_HEIGHT) == 0 ? region[1] : region[2]) = array;
  const size_t origin[3] = {0, 0, 0};
  const size_t size = image_fact<size_t>(image, CL_IMAGE_ELEMENT_SIZE) * region[0] * region[1] * region[2];
  return read(size, place, [&](void* to, cl_event* event) {
    return read_image(place.queue, image, CL_FALSE, origin, region, 0, 0, to, place.count, place.events, event);
  });
}

// Of a buffer that the host may not read: by way of another one, which goes when the commands are over.
cl_int read_by_copy(cl_mem buffer, size_t size, void* to, const ReadPlace& place, cl_event* event) {
  const auto get = real<decltype(clGetMemObjectInfo)>(FnId::clGetMemObjectInfo);
  const auto create = real<decltype(clCreateBuffer)>(FnId::clCreateBuffer);
  const auto drop = real<decltype(clReleaseMemObject)>(FnId::clReleaseMemObject);
  const auto copy = real<decltype(clEnqueueCopyBuffer)>(FnId::clEnqueueCopyBuffer);
  const auto read = real<decltype(clEnqueueReadBuffer)>(FnId::clEnqueueReadBuffer);
  cl_context context = nullptr;
  if (!create || !drop || !copy || get(buffer, CL_MEM_CONTEXT, sizeof context, &context, nullptr) != CL_SUCCESS)
    return CL_INVALID_OPERATION;
  cl_int code = CL_SUCCESS;
  cl_mem between = create(context, CL_MEM_READ_WRITE, size, nullptr, &code);
  if (!between) return code;
  cl_event copied = nullptr;
  code = copy(place.queue, buffer, between, 0, 0, size, place.count, place.events, &copied);
  if (code == CL_SUCCESS) {
    code = read(place.queue, between, CL_FALSE, 0, size, to, 1, &copied, event);
    release(copied);
  }
  drop(between);
  return code;
}

Content read_buffer(cl_mem buffer, const ReadPlace& place) {
  const auto read_buffer = real<decltype(clEnqueueReadBuffer)>(FnId::clEnqueueReadBuffer);
  const auto get = real<decltype(clGetMemObjectInfo)>(FnId::clGetMemObjectInfo);
  size_t size = 0;
  if (!read_buffer || !get || get(buffer, CL_MEM_SIZE, sizeof size, &size, nullptr) != CL_SUCCESS) return {};
  return read(size, place, [&](void* to, cl_event* event) {
    const cl_int code = read_buffer(place.queue, buffer, CL_FALSE, 0, size, to, place.count, place.events, event);
    return code == CL_INVALID_OPERATION ? read_by_copy(buffer, size, to, place, event) : code;
  });
}

}  // namespace

Content read_back(const LiveObject& object, const ReadPlace& place) noexcept {
  const auto handle = reinterpret_cast<cl_mem>(object.key.load(std::memory_order_relaxed));
  switch (object.kind.load(std::memory_order_relaxed)) {
    case ObjectKind::Buffer:
      return read_buffer(handle, place);
    case ObjectKind::Image:
      return read_image(handle, place);
    default:
      return {};  // a pipe's packets
  }
}

Content read_back(const LiveAllocation& memory, const ReadPlace& place) noexcept {
  const auto copy = memory.usm.load(std::memory_order_relaxed)
                        ? real<decltype(clEnqueueSVMMemcpy)>(FnId::clEnqueueMemcpyINTEL)
                        : real<decltype(clEnqueueSVMMemcpy)>(FnId::clEnqueueSVMMemcpy);
  if (!copy) return {};
  const size_t size = memory.size.load(std::memory_order_relaxed);
  const auto* const from = reinterpret_cast<const void*>(memory.key.load(std::memory_order_relaxed));
  return read(size, place, [&](void* to, cl_event* event) {
    return copy(place.queue, CL_FALSE, to, from, size, place.count, place.events, event);
  });
}

void count_user_events(int change) noexcept { g_user_events.fetch_add(change, std::memory_order_relaxed); }

}  // namespace gt::tracer
