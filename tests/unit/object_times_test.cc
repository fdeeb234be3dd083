// trace.db keeps the times of queues and contexts, and the steady state, since format 3.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "tests/unit/sample_trace.h"
#include "traces/store/trace_db.h"

using namespace gt;
using namespace gt::testing;

namespace {

struct File {
  std::string path =
      (std::filesystem::temp_directory_path() / ("gt_object_times_" + std::to_string(::getpid()) + ".db")).string();
  ~File() { std::remove(path.c_str()); }
};

Trace with_times() {
  Trace t = paper_loop(10);
  t.devices[0].steady_kernel_ns = 11;
  t.devices[0].steady_transfer_ns = 12;
  t.devices[0].steady_overlap_ns = 13;
  ObjectTime queue;
  queue.cls = 1;
  queue.slot = 4;
  queue.time.kernel_ns = 100;
  queue.time.untimed_transfers = 7;
  queue.time.steady_overlap_ns = ~uint64_t{0};
  t.object_times = {queue};
  return t;
}

}  // namespace

TEST_CASE("times of objects are written and read back") {
  const File file;
  REQUIRE(store::write_trace(file.path, with_times()).ok());
  const Result<Trace> r = store::read_trace(file.path);
  REQUIRE_MESSAGE(r.ok(), r.status().text());
  CHECK(r->devices[0].steady_kernel_ns == 11);
  CHECK(r->devices[0].steady_transfer_ns == 12);
  CHECK(r->devices[0].steady_overlap_ns == 13);
  REQUIRE(r->object_times.size() == 1);
  const ObjectTime& q = r->object_times[0];
  CHECK(q.cls == 1);
  CHECK(q.slot == 4);
  CHECK(q.time.kernel_ns == 100);
  CHECK(q.time.untimed_transfers == 7);
  CHECK(q.time.steady_overlap_ns == ~uint64_t{0});
}

TEST_CASE("times of nothing are refused") {
  const File file;
  Trace t = with_times();
  t.object_times[0].device = 1;
  CHECK(store::write_trace(file.path, t).kind() == Kind::Invalid);
  t = with_times();
  t.object_times[0].cls = 1000;
  CHECK(store::write_trace(file.path, t).kind() == Kind::Invalid);
}

TEST_CASE("samples of earlier formats have none") {
  for (const char* sample : {"/format1.db", "/format2.db"}) {
    const Result<Trace> r = store::read_trace(std::string(GT_SAMPLES) + sample);
    REQUIRE_MESSAGE(r.ok(), r.status().text());
    CHECK(r->object_times.empty());
    for (const DeviceTime& d : r->devices) CHECK(d.steady_kernel_ns == 0);
  }
}

// busy_queues 40 60, on the fake driver: three queues in two contexts.
TEST_CASE("the sample of format 3 opens, with what the format added") {
  const Result<Trace> r = store::read_trace(std::string(GT_SAMPLES) + "/format3.db");
  REQUIRE_MESSAGE(r.ok(), r.status().text());
  const auto of = [&](ObjectKind kind) {
    return std::count_if(r->object_times.begin(), r->object_times.end(),
                         [&](const ObjectTime& o) { return r->classes[o.cls].kind == kind; });
  };
  CHECK(of(ObjectKind::Queue) == 3);
  CHECK(of(ObjectKind::Context) == 2);
  REQUIRE(r->devices.size() == 1);
  CHECK(r->devices[0].kernel_ns == 60 * 20'000);
  CHECK(r->devices[0].steady_kernel_ns < r->devices[0].kernel_ns);
  CHECK(r->devices[0].steady_kernel_ns > 50 * 20'000);
}
