// Remote devices: what cannot go, and the replay of folded traces against answers that are known: by hand for small
// programs, by the independent simulation for random ones.
#include <doctest/doctest.h>

#include <random>

#include "analyzer/remote/remote_eligibility.h"
#include "analyzer/remote/remote_links.h"
#include "analyzer/remote/remote_prediction.h"
#include "tests/link_simulation/link_simulation.h"
#include "traces/api/api.h"
#include "traces/model/fold/fold.h"

using namespace gt;
using analyzer::TimedCall;
using model::ArgForm;
using model::Effect;
using model::ObjectKind;

namespace {

// A trace made call by call; each kind of call has a shape, and the folder folds them.
class Program {
 public:
  Program() {
    trace.processes.push_back({1, 0, "/bin/app", {"app"}, 0, 1'000'000'000, 0, 0});
    trace.threads.push_back({0, 1});
    trace.sites.push_back({});
    device_class = new_class(ObjectKind::Device);
  }

  model::ClassId new_class(ObjectKind kind) {
    trace.classes.push_back({kind, 0, 0, 0, model::NoIndex});
    return static_cast<model::ClassId>(trace.classes.size() - 1);
  }
  model::ShapeId new_shape(const char* name, std::vector<model::Arg> args, double host_ns, double device_ns = 0,
                           double bytes = 0) {
    const model::FnId fn = api::find_function(name);
    REQUIRE(fn != 0);
    trace.shapes.push_back({fn, 0, 0, false, std::move(args), api::attributes(fn).transfer});
    costs.push_back({host_ns, device_ns, bytes});
    trace.stats.emplace_back();
    return static_cast<model::ShapeId>(trace.shapes.size() - 1);
  }
  void call(model::ShapeId shape, std::vector<int64_t> row) {
    folder.push(shape, row);
    const Cost& c = costs[shape];
    model::ShapeStats& s = trace.stats[shape];
    ++s.calls;
    s.host_ns.add(static_cast<uint64_t>(c.host_ns));
    if (c.device_ns > 0) s.device_ns.add(static_cast<uint64_t>(c.device_ns));
    if (c.bytes > 0) s.bytes.add(static_cast<uint64_t>(c.bytes));
    ++calls;
  }

  static model::Arg object(uint16_t param, Effect effect, model::ClassId cls) {
    return {param, ArgForm::Object, effect, cls};
  }
  static model::Arg integer(uint16_t param) { return {param, ArgForm::Int, Effect::None, model::NoIndex}; }

  // A queue of its own class.
  model::ClassId make_queue(bool out_of_order) {
    const auto cls = new_class(ObjectKind::Queue);
    const auto shape = new_shape(
        "clCreateCommandQueue",
        {object(1, Effect::Use, device_class), integer(2), object(model::ParamReturn, Effect::Def, cls)}, 20'000);
    call(shape, {0, out_of_order ? 1 : 0, 0});
    return cls;
  }
  model::ShapeId launch(model::ClassId queue, double device_ns, std::vector<model::Arg> more = {}) {
    std::vector<model::Arg> args = {object(0, Effect::Use, queue)};
    args.insert(args.end(), more.begin(), more.end());
    return new_shape("clEnqueueNDRangeKernel", args, 2000, device_ns);
  }
  model::ShapeId transfer(const char* name, model::ClassId queue, double bytes, std::vector<model::Arg> more = {}) {
    std::vector<model::Arg> args = {object(0, Effect::Use, queue), integer(2)};
    args.insert(args.end(), more.begin(), more.end());
    return new_shape(name, args, 3000, 1000 + bytes / 10, bytes);
  }
  model::ShapeId finish(model::ClassId queue) { return new_shape("clFinish", {object(0, Effect::Use, queue)}, 500); }

  const model::Trace& done() {
    trace.streams = {{0, false, folder.snapshot(), {}}};
    return trace;
  }

  struct Cost {
    double host_ns, device_ns, bytes;
  };
  model::Trace trace;
  model::Folder folder;
  std::vector<Cost> costs;
  model::ClassId device_class = 0;
  uint64_t calls = 0;
};

struct Both {
  double replayed, simulated;
  uint64_t executed;
  double error() const { return std::abs(replayed / simulated - 1); }
};

Both both(const model::Trace& trace, const model::LinkCosts* link) {
  analyzer::TimingDoubts doubts;
  const auto plans = analyzer::time_calls(trace, {}, doubts);
  const auto replayed = analyzer::replay_on_link(trace, plans, link, 1000);
  CHECK_FALSE(replayed.approximate);
  double parts = 0;
  for (const double p : replayed.parts) parts += p;
  CHECK(parts == doctest::Approx(replayed.ns).epsilon(1e-6));
  return {replayed.ns, testing::LinkSimulation(trace, plans, link, 1000).run(trace.streams[0]), replayed.executed};
}

// Loops of launches, transfers, waits and events, at random; the same for the same seed.
class RandomProgram {
 public:
  RandomProgram(uint64_t seed, size_t queues) : random_(seed) {
    for (size_t i = 0; i < queues; ++i) queues_.push_back(program.make_queue(queues > 1 && draw(3) == 0));
    std::vector<Statement> body = block(0);
    execute(body);
    for (const auto q : queues_) program.call(program.finish(q), {0});
  }
  Program program;

 private:
  enum Kind { Launch, Write, Read, Finish, WaitEvent, Barrier, Loop, Kinds };
  struct Statement {
    Kind kind;
    model::ShapeId shape = 0;
    int64_t number = 0;  // trips, or whether it blocks
    int event = -1;      // made by it: index into made_
    std::vector<int> waits;
    std::vector<Statement> body;
  };
  struct Made {
    model::ClassId cls;
    bool grows;  // a new slot each time, else always the same
    int64_t slot = -1;
  };

  int64_t draw(int64_t below) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(below)); }

  std::vector<Statement> block(int depth) {
    std::vector<Statement> out;
    const size_t known = known_.size();
    for (int64_t n = 2 + draw(5); n > 0; --n)
      out.push_back(statement(static_cast<Kind>(draw(depth < 3 ? Kinds : Loop)), depth));
    known_.resize(known);  // what is made in a loop is not for those after it: it may not have run
    return out;
  }

  Statement statement(Kind kind, int depth) {
    Statement s{kind, 0, 0, -1, {}, {}};
    const auto queue = queues_[static_cast<size_t>(draw(static_cast<int64_t>(queues_.size())))];
    if (kind == Loop) {
      s.number = depth == 0 ? 1 + draw(60) : 1 + draw(12);
      s.body = block(depth + 1);
      return s;
    }
    if (kind == Finish) return s.shape = program.finish(queue), s;
    std::vector<model::Arg> more;
    if (kind == WaitEvent && known_.empty()) kind = s.kind = Launch;
    const int64_t waits = kind == WaitEvent ? 1
                          : draw(3) == 0    ? std::min<int64_t>(draw(3), static_cast<int64_t>(known_.size()))
                                            : 0;
    for (int64_t i = 0; i < waits; ++i) {
      s.waits.push_back(known_[static_cast<size_t>(draw(static_cast<int64_t>(known_.size())))]);
      more.push_back(Program::object(7, Effect::Use, made_[static_cast<size_t>(s.waits.back())].cls));
    }
    if (kind == WaitEvent) return s.shape = program.new_shape("clWaitForEvents", more, 500), s;
    if (draw(2) == 0) {
      made_.push_back({program.new_class(ObjectKind::Event), draw(3) == 0});
      s.event = static_cast<int>(made_.size()) - 1;
      known_.push_back(s.event);
      more.push_back(Program::object(8, Effect::Def, made_.back().cls));
    }
    s.number = draw(4) == 0;
    const double bytes = static_cast<double>(int64_t{1} << (6 + draw(16)));
    if (kind == Launch) s.shape = program.launch(queue, static_cast<double>(1000 + draw(100'000)), more);
    if (kind == Write) s.shape = program.transfer("clEnqueueWriteBuffer", queue, bytes, more);
    if (kind == Read) s.shape = program.transfer("clEnqueueReadBuffer", queue, bytes, more);
    if (kind == Barrier) {
      more.insert(more.begin(), Program::object(0, Effect::Use, queue));
      s.shape = program.new_shape("clEnqueueBarrierWithWaitList", more, 1000);
    }
    return s;
  }

  void execute(const std::vector<Statement>& body) {
    for (const Statement& s : body) {
      if (s.kind == Loop) {
        for (int64_t i = 0; i < s.number; ++i) execute(s.body);
        continue;
      }
      std::vector<int64_t> row;
      if (s.kind != WaitEvent) row.push_back(0);
      if (s.kind == Write || s.kind == Read) row.push_back(s.number);
      for (const int w : s.waits) row.push_back(made_[static_cast<size_t>(w)].slot);
      if (s.event >= 0) {
        Made& made = made_[static_cast<size_t>(s.event)];
        made.slot = made.grows ? made.slot + 1 : 0;
        row.push_back(made.slot);
      }
      program.call(s.shape, row);
    }
  }

  std::mt19937_64 random_;
  std::vector<model::ClassId> queues_;
  std::vector<Made> made_;
  std::vector<int> known_;
};

const model::LinkCosts Near = analyzer::make_link("near", 20, 20);
const model::LinkCosts Far = analyzer::make_link("far", 5000, 1);

}  // namespace

TEST_CASE("a loop of blocking reads takes a round trip each") {
  Program p;
  const auto q = p.make_queue(false);
  const auto launch = p.launch(q, 10'000);
  const auto read = p.transfer("clEnqueueReadBuffer", q, 1000);
  for (int i = 0; i < 1000; ++i) p.call(launch, {0}), p.call(read, {0, 1});
  const auto r = both(p.done(), &Far);
  CHECK(r.error() < 1e-6);
  // There, the kernel, the read, its data, back; and the wake.
  const double each =
      2 * Far.command_ns + Far.put(128) * 2 + 2000 + 10'000 + 1100 + Far.get(1128) + 2 * Far.latency_ns + 1000;
  CHECK(r.replayed == doctest::Approx(1000 * each).epsilon(0.001));
  CHECK(r.executed < 30);
}

TEST_CASE("launches without waiting are as fast as the slowest of host, link, server and device") {
  for (const double device_ns : {100.0, 50'000.0}) {
    Program p;
    const auto q = p.make_queue(false);
    const auto launch = p.launch(q, device_ns), finish = p.finish(q);
    for (int i = 0; i < 100'000; ++i) p.call(launch, {0});
    p.call(finish, {0});
    analyzer::TimingDoubts doubts;
    const auto plans = analyzer::time_calls(p.done(), {}, doubts);
    const auto r = analyzer::replay_on_link(p.trace, plans, &Far, 0);
    CHECK(r.ns == doctest::Approx(100'000 * std::max(device_ns, 2000.0) + 2 * Far.latency_ns).epsilon(0.001));
    CHECK(r.executed < 50);
  }
}

TEST_CASE("a clock that catches up much later is not forgotten") {
  Program p;
  const auto q = p.make_queue(false);
  const auto big = p.transfer("clEnqueueWriteBuffer", q, 1e8);
  const auto launch = p.launch(q, 100), finish = p.finish(q);
  p.call(big, {0, 0});
  for (int i = 0; i < 2'000'000; ++i) p.call(launch, {0});
  p.call(finish, {0});
  analyzer::TimingDoubts doubts;
  const auto plans = analyzer::time_calls(p.done(), {}, doubts);
  // The launches wait behind 0.8 s of data, and for a server that takes 2 us each: the server starts late.
  const auto slow = analyzer::replay_on_link(p.trace, plans, &Far, 0);
  CHECK(slow.ns == doctest::Approx(0.8e9 + 2'000'000 * 2000.0).epsilon(0.01));
  // A sender that takes 3 us is behind at first, and decides in the end.
  model::LinkCosts sender = Far;
  sender.command_ns = 3000;
  const auto late = analyzer::replay_on_link(p.trace, plans, &sender, 0);
  CHECK(late.ns == doctest::Approx(2'000'000 * 3000.0).epsilon(0.01));
  CHECK(late.executed < 100);
}

TEST_CASE("deep loops, empty loops and irregular ones end, and are said to be approximate") {
  Program p;
  const auto q = p.make_queue(false);
  const auto launch = p.launch(q, 100);
  p.done();
  model::Node call;
  call.shape = launch;
  call.values.emplace_back(0);
  const auto loop = [](std::vector<model::Node> body, model::Series count) {
    model::Node n;
    n.kind = model::Node::Kind::Loop;
    n.count = std::move(count);
    n.body = std::move(body);
    return n;
  };
  analyzer::TimingDoubts doubts;
  const auto plans = analyzer::time_calls(p.trace, {}, doubts);
  const auto executed = [&](const model::Node& node) {
    p.trace.streams[0].nodes = {node};
    const auto r = analyzer::replay_on_link(p.trace, plans, &Far, 0);
    CHECK(r.executed < 10'000'000);
    return r.approximate;
  };
  model::Node deep = call;
  for (int depth = 0; depth < 60; ++depth) deep = loop({deep}, model::Series(3));
  CHECK(executed(deep));
  const int64_t huge = int64_t{1} << 60;
  const model::Series rising = model::make_affine(model::Series(0), model::Series(1));
  CHECK(executed(loop({loop({call}, rising)}, model::Series(huge))));
  CHECK(executed(loop({loop({call}, model::make_affine(model::Series(0), model::Series(-1)))}, model::Series(huge))));
  CHECK_FALSE(executed(loop({loop({call}, model::Series(0)), call}, model::Series(huge))));
}

TEST_CASE("random programs on one queue agree with the simulation") {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    RandomProgram random(seed, 1);
    const model::Trace& trace = random.program.done();
    if (random.program.calls > 60'000) continue;
    CAPTURE(seed);
    CAPTURE(random.program.calls);
    for (const model::LinkCosts* link : {static_cast<const model::LinkCosts*>(nullptr), &Near, &Far}) {
      const auto r = both(trace, link);
      CHECK_MESSAGE(r.error() < 0.01, r.replayed, " replayed, ", r.simulated, " simulated");
    }
  }
}

TEST_CASE("random programs on several queues agree with the simulation") {
  double worst = 0, sum = 0;
  int replays = 0;
  uint64_t calls = 0, executed = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    RandomProgram random(seed, 3);
    const model::Trace& trace = random.program.done();
    if (random.program.calls > 60'000) continue;
    CAPTURE(seed);
    CAPTURE(random.program.calls);
    for (const model::LinkCosts* link : {static_cast<const model::LinkCosts*>(nullptr), &Near, &Far}) {
      const auto r = both(trace, link);
      CHECK_MESSAGE(r.error() < 0.01, r.replayed, " replayed, ", r.simulated, " simulated");
      worst = std::max(worst, r.error());
      sum += r.error();
      calls += random.program.calls;
      executed += r.executed;
      ++replays;
    }
  }
  MESSAGE(replays, " replays, mean error ", sum / replays, ", worst ", worst, "; ", executed, " of ", calls,
          " calls executed");
  CHECK(executed < calls);
}

TEST_CASE("features have places, counts and queues; what failed was not used") {
  Program p;
  p.trace.modules.push_back({0, 0, 0, "/nonexistent/app", "abcd"});
  p.trace.sites[0] = {0, 0x40};
  const auto q = p.make_queue(false), other = p.make_queue(false);
  const auto native = p.new_shape("clEnqueueNativeKernel", {Program::object(0, Effect::Use, q)}, 100);
  for (int i = 0; i < 7; ++i) p.call(native, {0});
  p.call(p.launch(other, 100), {0});
  const auto gl = p.new_shape("clCreateFromGLBuffer", {}, 100);
  p.call(gl, {});
  p.trace.stats[gl].failed = 1;
  p.done();
  analyzer::CallSites sites;
  const auto r = analyzer::find_remote_eligibility(p.trace, sites);
  CHECK_FALSE(r.eligible);
  REQUIRE(r.features.size() == 1);
  CHECK(r.features[0].name == "native-kernel");
  CHECK(r.features[0].calls == 7);
  CHECK(r.features[0].site.offset == 0x40);
  REQUIRE(r.queues.size() == 2);
  CHECK_FALSE(r.queues[0].eligible);
  CHECK(r.queues[1].eligible);
}

TEST_CASE("memory flags decide, wherever they stand") {
  const auto features = [](int64_t flags, const char* name, uint16_t param) {
    Program p;
    const auto shape = p.new_shape(name, {Program::integer(param)}, 100);
    for (int i = 0; i < 3; ++i) p.call(shape, {i == 1 ? flags : 1});
    analyzer::CallSites sites;
    const auto r = analyzer::find_remote_eligibility(p.done(), sites);
    return r.features.empty() ? std::string() : r.features[0].name + (r.eligible ? "" : "!");
  };
  CHECK(features(1 << 10, "clSVMAlloc", 1) == "fine-grain-svm");
  CHECK(features(3 << 10, "clSVMAlloc", 1) == "svm-atomics!");
  CHECK(features(2, "clSVMAlloc", 1) == "coarse-svm");
  CHECK(features(1 << 3, "clCreateBuffer", 1) == "use-host-ptr");
  CHECK(features(1 << 5, "clCreateBuffer", 1).empty());
}

TEST_CASE("what no device elsewhere has is found by functions' names, and by keys of properties") {
  const auto feature = [](const char* name, std::vector<model::Arg> args, std::vector<int64_t> values) {
    Program p;
    p.call(p.new_shape(name, std::move(args), 100), std::move(values));
    analyzer::CallSites sites;
    const auto r = analyzer::find_remote_eligibility(p.done(), sites);
    return r.features.empty() ? std::string() : r.features[0].name + (r.eligible ? "" : "!");
  };
  CHECK(feature("clSetKernelArgDevicePointerEXT", {}, {}) == "device-address");
  CHECK(feature("clSVMAllocWithPropertiesKHR", {}, {}) == "unified-svm!");
  CHECK(feature("clSVMAllocARM", {}, {}) == "arm-svm!");
  CHECK(feature("clHostMemAllocINTEL", {}, {}) == "host-usm");
  CHECK(feature("clSharedMemAllocINTEL", {}, {}) == "shared-usm");
  CHECK(feature("clCreatePipe", {}, {}) == "pipes!");
  CHECK(feature("clEnqueueReadHostPipeINTEL", {}, {}) == "pipes!");
  CHECK(feature("clTerminateContextKHR", {}, {}) == "terminate-context!");
  CHECK(feature("clGetKernelSuggestedLocalWorkSize", {}, {}).empty());
  const auto list = [&](const char* name, uint16_t param, int64_t key) {
    return feature(name, {Program::integer(param), Program::integer(param)}, {key, 7});
  };
  CHECK(list("clCreateBufferWithProperties", 1, 0x2067) == "external-memory!");
  CHECK(list("clCreateImageWithProperties", 1, 0x2060) == "external-memory!");
  CHECK(list("clCreateBufferWithProperties", 1, 0x5000) == "device-address");
  CHECK(list("clCreateContext", 0, 0x2009) == "egl-sharing!");
  CHECK(list("clCreateContext", 0, 0x1084).empty());
}

TEST_CASE("a kernel on a mapped buffer is found, unless it only reads what is mapped for reading") {
  for (const bool writes : {true, false}) {
    for (const bool unmapped : {true, false}) {
      Program p;
      const auto q = p.make_queue(false);
      const auto b = p.new_class(ObjectKind::Buffer);
      const auto map = p.new_shape(
          "clEnqueueMapBuffer",
          {Program::object(0, Effect::Use, q), Program::object(1, Effect::Use, b), Program::integer(3)}, 10);
      const auto unmap = p.new_shape("clEnqueueUnmapMemObject",
                                     {Program::object(0, Effect::Use, q), Program::object(1, Effect::UseDef, b)}, 10);
      const auto launch = p.launch(q, 100, {Program::object(model::ParamKernelArg, Effect::UseDef, b)});
      for (int i = 0; i < 50; ++i) {
        p.call(map, {0, 0, 1});  // CL_MAP_READ
        if (unmapped) p.call(unmap, {0, 0});
        p.call(launch, {0, 0});
        if (!unmapped) p.call(unmap, {0, 0});
      }
      p.done();
      analyzer::Effects effects;
      for (const model::Shape& s : p.trace.shapes)
        for (effects.emplace_back(); effects.back().size() < s.args.size();) effects.back().push_back(Effect::Use);
      if (writes) effects[launch].back() = Effect::UseDef;
      CHECK(analyzer::find_mapped_launches(p.trace, effects).count(launch) == (writes && !unmapped ? 1 : 0));
    }
  }
}

TEST_CASE("links are read, or refused with what is wrong") {
  const auto links = analyzer::parse_links("10GbE,my=box=50:1.5");
  REQUIRE(links.ok());
  REQUIRE(links->size() == 2);
  CHECK((*links)[1].name == "my=box");
  CHECK((*links)[1].latency_ns == 50'000);
  CHECK((*links)[1].put(1'500'000) == doctest::Approx(8e6));
  CHECK(analyzer::parse_links("")->empty());
  for (const char* bad : {"10", "a=", "a=1", "a=1:", "a=1:-1", "a=1e99:1", "a=1:inf", "wan,,wan"})
    CHECK_FALSE(analyzer::parse_links(bad).ok());
}

TEST_CASE("a prediction starts from the measured run") {
  Program p;
  const auto q = p.make_queue(false);
  const auto launch = p.launch(q, 10'000), finish = p.finish(q);
  for (int i = 0; i < 100; ++i) p.call(launch, {0}), p.call(finish, {0});
  const auto prediction =
      analyzer::predict_remote(p.done(), {{Far, true}, {analyzer::make_link("here", 0, 1e6), true}}, 5'000'000'000);
  CHECK(prediction.measured_s == 5);
  REQUIRE(prediction.links.size() == 2);
  CHECK(prediction.links[0].seconds == doctest::Approx(5 + 100 * 2 * Far.latency_ns / 1e9).epsilon(0.01));
  CHECK(prediction.links[0].replies == 100);
  CHECK(prediction.links[1].slowdown == doctest::Approx(1).epsilon(0.01));
  REQUIRE(prediction.links[0].queues.size() == 1);
  CHECK(prediction.links[0].queues[0].waits == 100);
  CHECK(prediction.links[0].queues[0].dominates() == analyzer::Term::Latency);
  double sum = 0;
  for (const double part : prediction.links[0].parts_s) sum += part;
  CHECK(sum == doctest::Approx(prediction.links[0].seconds));
}
