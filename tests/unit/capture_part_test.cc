// The parts of a recording that has the data of some of its calls: which kernels have which memory, which calls are
// made again.
#include <doctest/doctest.h>

#include <set>
#include <thread>
#include <vector>

#include "tracer/gtrace/replay/captured_part.h"
#include "tracer/lib/fixed_table.h"
#include "traces/api/fn_id.h"

namespace gt::tracer {
namespace {

using api::FnId;
using model::Arg;
using model::ArgForm;
using model::Effect;

struct Entry {
  std::atomic<uintptr_t> key{0};
  std::atomic<int> value{0};
  void begin() { value.store(0); }
};

const void* handle(uintptr_t number) { return reinterpret_cast<const void*>(0x1000 + 64 * number); }

TEST_CASE("a table has what was put in and not taken out") {
  static FixedTable<Entry, 1024> table;
  for (uintptr_t i = 0; i < 300; ++i) {
    Entry* const made = table.add(handle(i));
    REQUIRE(made);
    made->value.store(static_cast<int>(i));
  }
  for (uintptr_t i = 0; i < 300; i += 2) table.remove(handle(i));
  for (uintptr_t i = 0; i < 300; ++i) {
    const Entry* const found = table.find(handle(i));
    CHECK((found != nullptr) == (i % 2 == 1));
    if (found) CHECK(found->value.load() == static_cast<int>(i));
  }
  CHECK(table.find(nullptr) == nullptr);
  CHECK(table.add(nullptr) == nullptr);
  CHECK(table.add(handle(1))->value.load() == 0);  // a new object under an old handle
  CHECK(!table.overflowed());
  std::set<uintptr_t> seen;
  table.for_each([&](Entry& e) { seen.insert(e.key.load()); });
  CHECK(seen.size() == 150);
}

TEST_CASE("a table that is full says so") {
  static FixedTable<Entry, 64, 64> table;
  for (uintptr_t i = 0; i < 64; ++i) CHECK(table.add(handle(i)) != nullptr);
  CHECK(!table.overflowed());
  CHECK(table.add(handle(64)) == nullptr);
  CHECK(table.overflowed());
  CHECK(table.find(handle(63)) != nullptr);
}

TEST_CASE("threads put things into a table at once") {
  static FixedTable<Entry, 4096> table;
  std::vector<std::thread> threads;
  for (uintptr_t t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      const auto mine = [t](int i) { return handle(t * 1000 + static_cast<uintptr_t>(i)); };
      for (int turn = 0; turn < 50; ++turn) {
        for (int i = 0; i < 200; ++i) table.add(mine(i))->value.store(i);
        for (int i = 0; i < 200; ++i) CHECK(table.find(mine(i))->value.load() == i);
        for (int i = 0; turn < 49 && i < 200; ++i) table.remove(mine(i));
      }
    });
  }
  for (std::thread& t : threads) t.join();
  size_t there = 0;
  table.for_each([&](Entry&) { ++there; });
  CHECK(there == 800);
}

Arg arg(uint16_t param, ArgForm form, model::ClassId cls = model::NoIndex) { return {param, form, Effect::None, cls}; }

// The call of a function with one argument for each of its parameters, and what stands behind them.
model::Shape shape_of(FnId fn, const std::vector<Arg>& behind) {
  model::Shape shape;
  shape.fn = static_cast<uint16_t>(fn);
  for (uint16_t p = 0; p < api::param_count(shape.fn); ++p) shape.args.push_back(arg(p, ArgForm::Int));
  shape.args.push_back(arg(model::ParamReturn, ArgForm::Int));
  shape.args.insert(shape.args.end(), behind.begin(), behind.end());
  return shape;
}

const std::vector<Arg> Chosen = {arg(model::ParamBefore, ArgForm::Empty)};

TEST_CASE("what devices held stands behind a call, in turn with its numbers") {
  const ShapePlan plan = plan_shape(shape_of(FnId::clEnqueueFillBuffer, {
      arg(model::ParamBefore, ArgForm::Empty), arg(model::ParamBefore, ArgForm::Object, 0),
      arg(model::ParamBefore, ArgForm::Int), arg(model::ParamBefore, ArgForm::Memory, 1),
      arg(model::ParamBefore, ArgForm::Int), arg(model::ParamAfter, ArgForm::Object, 0),
      arg(model::ParamAfter, ArgForm::Int), arg(model::ParamAfter, ArgForm::Object, 0)}), {});
  CHECK(plan.chosen);
  CHECK(plan.before.size() == 2);
  CHECK(plan.after.size() == 1);  // the last one has no number: the trace is damaged
  CHECK(plan.value_at[plan.before[1] + 1u] == plan.value_at[plan.before[1]] + 2);
  CHECK(!plan_shape(shape_of(FnId::clEnqueueFillBuffer, {}), {}).chosen);
}

TEST_CASE("commands outside of the part are not made, all else is") {
  model::Trace trace;
  const auto left_out = [&](FnId fn, const std::vector<Arg>& behind = {}) {
    return CapturedPart(trace).leaves_out(plan_shape(shape_of(fn, behind), trace));
  };
  CHECK(!left_out(FnId::clEnqueueNDRangeKernel));
  trace.facts.emplace_back("capture.part", "kernel a#b#12");
  for (const FnId fn : {FnId::clEnqueueNDRangeKernel, FnId::clEnqueueTask, FnId::clEnqueueWriteBuffer,
                        FnId::clEnqueueReadImage, FnId::clEnqueueCopyBufferRect, FnId::clEnqueueFillBuffer,
                        FnId::clEnqueueSVMMemcpy, FnId::clEnqueueMigrateMemObjects, FnId::clEnqueueCommandBufferKHR}) {
    CHECK(left_out(fn));
    CHECK(!left_out(fn, Chosen));
  }
  for (const FnId fn : {FnId::clCreateBuffer, FnId::clCreateImage, FnId::clSVMAlloc, FnId::clEnqueueMapBuffer,
                        FnId::clEnqueueUnmapMemObject, FnId::clEnqueueSVMMap, FnId::clEnqueueSVMUnmap, FnId::clFinish,
                        FnId::clSetKernelArg, FnId::clEnqueueMarkerWithWaitList, FnId::clSetUserEventStatus,
                        FnId::clCommandNDRangeKernelKHR})
    CHECK(!left_out(fn));
}

TEST_CASE("a launch that is asked for must be the one that was captured") {
  model::Trace trace;
  CHECK(CapturedPart(trace).has({"any", 3}).ok());
  CHECK(CapturedPart(trace).came(trace).ok());
  CHECK(CapturedPart(trace).not_reached({"k", 1}, "why") == "why");
  trace.facts.emplace_back("capture.part", "kernel a#b#12");
  const CapturedPart part(trace);
  REQUIRE(part.launch());
  CHECK(part.launch()->kernel == "a#b");
  CHECK(part.launch()->nth == 12);
  CHECK(part.has({"a#b", 12}).ok());
  CHECK(part.has({"a#b", 11}).text() == "--kernel a#b#11: the recording has the data of kernel a#b#12 only");
  CHECK(!part.came(trace).ok());
  trace.shapes.push_back(shape_of(FnId::clEnqueueNDRangeKernel, Chosen));
  CHECK(part.came(trace).ok());
  model::Trace range;
  range.facts.emplace_back("capture.part", "calls 4..7");
  CHECK(!CapturedPart(range).launch());
  CHECK(CapturedPart(range).has({"k", 1}).ok());  // it may be one of them
}

}  // namespace
}  // namespace gt::tracer
