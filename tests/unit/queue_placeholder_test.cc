// Placeholders with odd drivers: one that tells that commands have ended flush by flush, not command by command, and
// one that runs commands in clFlush.
#include "transport/staging/queue_placeholder.h"

#include <doctest/doctest.h>

#include <atomic>

#include "tests/fake_cl/table.h"
#include "transport/staging/placeholder_trial.h"

namespace gt::staging {

TEST_CASE("a placeholder opens although what it holds back was enqueued with it") {
  fake::start_anew();
  fake::behaviour().runs = fake::Behaviour::Runs::ByFlush;  // as Mesa's rusticl
  const ClFunctions cl = fake::table();
  QueueFacts queue;
  queue.context = fake::any_context();
  queue.queue = fake::fake_clCreateCommandQueue(queue.context, fake::device(), 0, nullptr);
  QueuePlaceholder placeholder;
  REQUIRE(placeholder.open(cl, queue, 0, nullptr));
  CHECK(placeholder.state(cl) == QueuePlaceholder::State::Open);
  const cl_event after = placeholder.after();
  CHECK(after->status > CL_COMPLETE);
  placeholder.finish(cl, CL_SUCCESS);
  CHECK(after->status == CL_COMPLETE);
  cl.clReleaseEvent(after);
  cl.clReleaseCommandQueue(queue.queue);
  CHECK(fake::alive() == 0);
}

TEST_CASE("a driver that comes back from clFlush only when all is over is found out, and not waited for") {
  static std::atomic<cl_int> user_event;
  ClFunctions cl = fake::table();
  cl.clSetUserEventStatus = [](cl_event event, cl_int status) {
    user_event = status;
    return ::clSetUserEventStatus(event, status);
  };
  for (const bool stays : {false, true}) {
    fake::start_anew();
    fake::behaviour().flush_finishes = stays;  // as oclgrind
    user_event = CL_SUBMITTED;
    CHECK(placeholders_work(cl, fake::any_context(), fake::device()) == !stays);
    CHECK(user_event == CL_COMPLETE);
    CHECK(fake::alive() == 0);
  }
}

}  // namespace gt::staging
