// Placeholders with odd drivers: one that tells that commands have ended flush by flush, not command by command, and
// one that runs commands in clFlush.
#include "transport/staging/queue_placeholder.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "transport/staging/placeholder_trial.h"

namespace gt::staging {
namespace {

// Like Mesa's rusticl: what is flushed together ends when the queue has come past the last of it, and nothing is past a
// command that waits for an event which has not ended.
struct BatchDriver {
  struct Event {
    cl_int status = CL_QUEUED;
    const Event* waits_for = nullptr;
  };
  std::vector<Event*> pending;               // not flushed
  std::vector<std::vector<Event*>> batches;  // under way, the oldest first

  static const Event* event_of(cl_event e) { return reinterpret_cast<const Event*>(e); }
  void advance() {
    while (!batches.empty()) {
      for (const Event* e : batches.front())
        if (e->waits_for && e->waits_for->status > CL_COMPLETE) return;
      for (Event* e : batches.front()) e->status = CL_COMPLETE;
      batches.erase(batches.begin());
    }
  }
};
BatchDriver driver;

ClFunctions functions() {
  ClFunctions f;
  f.clEnqueueMarkerWithWaitList = [](cl_command_queue, cl_uint n, const cl_event* list, cl_event* out) {
    auto* event = new BatchDriver::Event{CL_QUEUED, n ? BatchDriver::event_of(*list) : nullptr};
    driver.pending.push_back(event);
    *out = reinterpret_cast<cl_event>(event);
    return CL_SUCCESS;
  };
  f.clFlush = [](cl_command_queue) {
    driver.batches.push_back(std::move(driver.pending));
    driver.pending.clear();
    driver.advance();
    return CL_SUCCESS;
  };
  f.clCreateUserEvent = [](cl_context, cl_int* err) {
    *err = CL_SUCCESS;
    return reinterpret_cast<cl_event>(new BatchDriver::Event{CL_SUBMITTED, nullptr});
  };
  f.clSetUserEventStatus = [](cl_event e, cl_int status) {
    reinterpret_cast<BatchDriver::Event*>(e)->status = status;
    driver.advance();
    return CL_SUCCESS;
  };
  f.clGetEventInfo = [](cl_event e, cl_event_info, size_t, void* value, size_t*) {
    *static_cast<cl_int*>(value) = BatchDriver::event_of(e)->status;
    return CL_SUCCESS;
  };
  f.clReleaseEvent = [](cl_event e) { return delete reinterpret_cast<BatchDriver::Event*>(e), CL_SUCCESS; };
  return f;
}

}  // namespace

TEST_CASE("a placeholder opens although what it holds back was enqueued with it") {
  const ClFunctions cl = functions();
  QueuePlaceholder placeholder;
  REQUIRE(placeholder.open(cl, QueueFacts{}, 0, nullptr));
  CHECK(placeholder.state(cl) == QueuePlaceholder::State::Open);
  const auto* after = BatchDriver::event_of(placeholder.after());
  CHECK(after->status > CL_COMPLETE);
  placeholder.finish(cl, CL_SUCCESS);
  CHECK(after->status == CL_COMPLETE);
  cl.clReleaseEvent(placeholder.after());
}

namespace {

// Like oclgrind with `stays`: clFlush comes back when nothing is left to run. User events are words that somebody sets.
std::atomic<cl_int> g_user_event{CL_SUBMITTED};
std::atomic<bool> g_stays{false};
std::atomic<int> g_objects{0};

template <class Handle>
Handle counted() {
  static char any;
  ++g_objects;
  return reinterpret_cast<Handle>(&any);
}

ClFunctions flushing_functions() {
  ClFunctions f;
  f.clCreateCommandQueue = [](cl_context, cl_device_id, cl_command_queue_properties, cl_int* err) {
    *err = CL_SUCCESS;
    return counted<cl_command_queue>();
  };
  f.clReleaseCommandQueue = [](cl_command_queue) { return --g_objects, CL_SUCCESS; };
  f.clCreateUserEvent = [](cl_context, cl_int* err) {
    *err = CL_SUCCESS;
    g_user_event = CL_SUBMITTED;
    return counted<cl_event>();
  };
  f.clEnqueueMarkerWithWaitList = [](cl_command_queue, cl_uint, const cl_event*, cl_event* out) {
    *out = counted<cl_event>();
    return CL_SUCCESS;
  };
  f.clFlush = [](cl_command_queue) {
    while (g_stays && g_user_event > CL_COMPLETE) std::this_thread::yield();
    return CL_SUCCESS;
  };
  f.clSetUserEventStatus = [](cl_event, cl_int status) { return g_user_event = status, CL_SUCCESS; };
  f.clWaitForEvents = [](cl_uint, const cl_event*) { return CL_SUCCESS; };
  f.clReleaseEvent = [](cl_event) { return --g_objects, CL_SUCCESS; };
  return f;
}

}  // namespace

TEST_CASE("a driver that comes back from clFlush only when all is over is found out, and not waited for") {
  const ClFunctions cl = flushing_functions();
  for (const bool stays : {false, true}) {
    g_stays = stays;
    CHECK(placeholders_work(cl, nullptr, nullptr) == !stays);
    CHECK(g_user_event == CL_COMPLETE);
    CHECK(g_objects == 0);
  }
}

}  // namespace gt::staging
