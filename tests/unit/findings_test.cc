// Every other rule on programs that have its problem, and on programs that nearly have it; what savings add up to.
#include "analyzer/rules/saving.h"
#include "tests/unit/findings_check.h"

using namespace gt;
using namespace gt::testing;

// --- idle-waits ---

TEST_CASE("idle-waits: after every kernel") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.launch(p.k, {{p.b, Effect::UseDef}}, 100'000);
    p.finish(600'000);
  }
  CHECK(seconds(only(p.finish_trace(), "idle-waits")) == about(0.05));
}

TEST_CASE("idle-waits: when nothing is on its way") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.launch(p.k, {{p.b, Effect::UseDef}}, 100'000);
    p.read(p.b, p.host, MiB);
    p.finish(300'000);
  }
  CHECK(seconds(only(p.finish_trace(), "idle-waits")) == about(0.03));
}

TEST_CASE("idle-waits: no word where the host may need it") {
  Program transfer, asks, second;
  second.at_place(0x9000);
  const Object other = second.make(ObjectKind::Queue, api::FnId::clCreateCommandQueue, {number(2, 0)});
  for (int i = 0; i < Times; ++i) {
    transfer.read(transfer.b, transfer.host, MiB, {.blocking = false});
    transfer.finish(600'000);
    const Object event{asks.queue.cls, 0};
    asks.launch(asks.k, {{asks.b, Effect::UseDef}}, 100'000);
    asks.finish(600'000);
    asks.call(fn(api::FnId::clGetEventProfilingInfo), {to(0, Effect::Use, event), number(1, 0x1280)}, 1000);
    second.launch(second.k, {{second.b, Effect::UseDef}}, 100'000);
    second.finish(600'000);
    second.write(other, second.b, second.host, MiB, {});
  }
  check_none(transfer.finish_trace());
  check_none(asks.finish_trace());
  check_none(second.finish_trace());
}

TEST_CASE("idle-waits: no word for kernels that print, and for a queue without order") {
  RuleTrace p;
  const Object b = p.buffer(MiB);
  const Object k = p.kernel("kernel void k(global int* a) { printf(\"%d\", a[0]); }");
  for (int i = 0; i < Times; ++i) {
    p.launch(k, {{b, Effect::UseDef}}, 100'000);
    p.finish(600'000);
  }
  check_none(p.finish_trace());
  Program q;
  q.at_place(0x9000);
  q.queue = q.make(ObjectKind::Queue, api::FnId::clCreateCommandQueue, {number(2, 1)});
  for (int i = 0; i < Times; ++i) {
    q.launch(q.k, {{q.b, Effect::UseDef}}, 100'000);
    q.finish(600'000);
  }
  check_none(q.finish_trace());
}

// --- small-transfers ---

TEST_CASE("small-transfers: neighbouring pieces in a loop") {
  Program p;
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < 200; ++j) p.write(p.b, p.host, 64, {.offset = j * 64, .device_ns = 1000, .host_ns = 20'000});
    p.use();
  }
  CHECK(seconds(only(p.finish_trace(), "small-transfers")) == about(0.0397));
}

TEST_CASE("small-transfers: no word about one place, a kernel in between, large or irregular pieces") {
  Program place, kernel, large, irregular;
  for (int i = 0; i < 2000; ++i) {
    place.read(place.b, place.host, 64, {.device_ns = 1000, .host_ns = 20'000});
    kernel.write(kernel.b, kernel.host, 64, {.offset = i * 64, .device_ns = 1000, .host_ns = 20'000});
    kernel.launch(kernel.k, {{kernel.b, Effect::Use}}, 100);
    large.write(large.b, large.host, 64 << 10, {.offset = i * 64 * 1024, .device_ns = 1000, .host_ns = 20'000});
    irregular.write(irregular.b, irregular.host, 64,
                    {.offset = i * i % 1009 * 64, .device_ns = 1000, .host_ns = 20'000});
  }
  large.use();
  irregular.use();
  for (Program* p : {&place, &kernel, &large, &irregular}) check_none(p->finish_trace());
}

// --- buffers-in-loop ---

TEST_CASE("buffers-in-loop: made and released each time") {
  Program p;
  for (int i = 0; i < 200; ++i) {
    const Object b = p.buffer(MiB, 1, 50'000);
    p.launch(p.k, {{b, Effect::UseDef}});
    p.release(b, 30'000);
  }
  CHECK(seconds(only(p.finish_trace(), "buffers-in-loop")) == about(0.016));
}

TEST_CASE("buffers-in-loop: no word when all of them live, when sizes differ, or when they get contents") {
  Program all, sizes, contents;
  std::vector<Object> made;
  all.at_place(0x6000), sizes.at_place(0x6000), contents.at_place(0x6000);
  for (int i = 0; i < 200; ++i) {
    made.push_back(all.buffer(MiB, 1, 50'000));
    const Object b = sizes.buffer(MiB + i * i % 777 * 64, 1, 50'000);
    sizes.launch(sizes.k, {{b, Effect::UseDef}});
    sizes.release(b);
    const Object c = contents.make(ObjectKind::Buffer, api::FnId::clCreateBuffer,
                                   {number(1, 33), number(2, MiB), at(3, Effect::Use, contents.host)}, 50'000, MiB,
                                   Direction::HostToDevice);
    contents.launch(contents.k, {{c, Effect::Use}});
    contents.release(c);
  }
  for (const Object& b : made) all.launch(all.k, {{b, Effect::UseDef}});
  for (Program* p : {&all, &sizes, &contents}) check_none(p->finish_trace());
}

// --- repeated-builds ---

TEST_CASE("repeated-builds: one kernel made again and again") {
  RuleTrace p;
  p.at_place(0x2000);
  p.program = p.make(ObjectKind::Program, api::FnId::clCreateProgramWithSource, {});
  const Object b = p.buffer(MiB);
  for (int i = 0; i < 200; ++i) {
    const Object k = p.make(ObjectKind::Kernel, api::FnId::clCreateKernel, {to(0, Effect::Use, p.program)}, 40'000);
    p.launch(k, {{b, Effect::UseDef}}, 10'000);
    p.release(k);
  }
  CHECK(seconds(only(p.finish_trace(), "repeated-builds")) == about(0.008));
}

TEST_CASE("repeated-builds: no word when the kernels live on, or are of different programs") {
  RuleTrace live, programs;
  live.at_place(0x2000), programs.at_place(0x2000);
  live.program = live.make(ObjectKind::Program, api::FnId::clCreateProgramWithSource, {});
  for (int i = 0; i < 200; ++i) {
    live.make(ObjectKind::Kernel, api::FnId::clCreateKernel, {to(0, Effect::Use, live.program)}, 40'000);
    programs.program = programs.make(ObjectKind::Program, api::FnId::clCreateProgramWithSource, {});
    const Object k =
        programs.make(ObjectKind::Kernel, api::FnId::clCreateKernel, {to(0, Effect::Use, programs.program)}, 40'000);
    programs.release(k);
  }
  check_none(live.finish_trace());
  check_none(programs.finish_trace());
}

TEST_CASE("repeated-builds: one source again and again; no word when it is for several devices or several sources") {
  const auto program = [](int devices, int sources) {
    RuleTrace p;
    const BlobId first = p.text("kernel void a() {}"), second = p.text("kernel void b() {}");
    const Object some = p.make(ObjectKind::Device, api::FnId::clGetDeviceIDs, {});
    for (int i = 0; i < 20; ++i) {
      const Object built = p.make(ObjectKind::Program, api::FnId::clCreateProgramWithSource,
                                  {number(1, 1), blob(2, i % sources ? second : first)});
      p.call(fn(api::FnId::clBuildProgram),
             {to(0, Effect::UseDef, built), number(1, 1), to(2, Effect::Use, {some.cls, i % devices}), null(3),
              number(ParamReturn, 0)},
             10'000'000);
      p.release_program(built);
    }
    return p.finish_trace();
  };
  CHECK(seconds(only(program(1, 1), "repeated-builds")) == about(0.19));
  check_none(program(2, 1));
  check_none(program(1, 2));
}

// --- missed-overlap ---

TEST_CASE("missed-overlap: one queue, nothing waits") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB, {.blocking = false});
    p.launch(p.k, {{p.b, Effect::UseDef}}, 2'000'000);
  }
  p.at_place(0x4400);
  p.read(p.b, p.host, MiB);
  CHECK(seconds(only(p.finish_trace(300'000'000), "missed-overlap")) == about(0.099));
}

TEST_CASE("missed-overlap: no word when the host waits for results, or there are two queues") {
  Program waits, queues, sends;
  queues.at_place(0x9000);
  const Object other = queues.make(ObjectKind::Queue, api::FnId::clCreateCommandQueue, {number(2, 0)});
  for (int i = 0; i < Times; ++i) {
    waits.write(waits.b, waits.host, MiB, {.blocking = false});
    waits.launch(waits.k, {{waits.b, Effect::UseDef}}, 2'000'000);
    waits.read(waits.b, waits.host, MiB);
    queues.write(other, queues.b, queues.host, MiB, {.blocking = false});
    queues.launch(queues.k, {{queues.b, Effect::UseDef}}, 2'000'000);
    // A blocking send in a queue that keeps its order waits for the results received before it.
    sends.write(sends.b, sends.host, MiB);
    sends.launch(sends.k, {{sends.b, Effect::UseDef}}, 2'000'000);
    sends.read(sends.b, sends.host, MiB, {.blocking = false});
  }
  check_none(waits.finish_trace(400'000'000));
  check_none(queues.finish_trace(400'000'000));
  check_none(sends.finish_trace(400'000'000));
}

// --- copying-maps ---

TEST_CASE("copying-maps: of a buffer that has no contents yet") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    const Object b = p.buffer(MiB, 1 | 16);
    p.unmap(b, p.map(b, MiB, 2, 500'000), MiB, true, 500'000);
    p.launch(p.k, {{b, Effect::Use}});
    p.release(b);
  }
  const Finding f = only(p.finish_trace(), "copying-maps");
  CHECK(seconds(f) == about(0.05));
  CHECK(f.advice.find("INVALIDATE") != std::string::npos);
}

TEST_CASE("copying-maps: given back as it was") {
  Program p;
  const Object b = p.buffer(MiB, 1 | 16);
  for (int i = 0; i < Times; ++i) {
    p.launch(p.k, {{b, Effect::UseDef}});
    p.unmap(b, p.map(b, MiB, 3, 500'000, i), MiB, true, 500'000, i);
  }
  const Finding f = only(p.finish_trace(), "copying-maps");
  CHECK(seconds(f) == about(0.05));
  CHECK(f.advice.find("CL_MAP_READ") != std::string::npos);
}

TEST_CASE("copying-maps: buffers of the device; without a figure, as the kernels' share is not known") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.launch(p.k, {{p.b, Effect::UseDef}});
    p.unmap(p.b, p.map(p.b, MiB, 1, 500'000), MiB, false, 1'000);
  }
  CHECK_FALSE(only(p.finish_trace(), "copying-maps").saving_s);
}

TEST_CASE("copying-maps: no word when nothing is copied, contents are asked for, or the old ones are not wanted") {
  Program fast, written, invalidates;
  written.at_place(0x6000);
  const Object in_host = written.buffer(MiB, 1 | 16);
  for (int i = 0; i < Times; ++i) {
    fast.launch(fast.k, {{fast.b, Effect::UseDef}});
    fast.unmap(fast.b, fast.map(fast.b, MiB, 1, 9'000), MiB, false, 1'000);
    written.launch(written.k, {{in_host, Effect::UseDef}});
    written.unmap(in_host, written.map(in_host, MiB, 2, 500'000), MiB, true, 500'000);
    const Object b = invalidates.buffer(MiB, 1 | 16);
    invalidates.unmap(b, invalidates.map(b, MiB, 4, 1'000), MiB, true, 500'000);
    invalidates.launch(invalidates.k, {{b, Effect::Use}});
    invalidates.release(b);
  }
  for (Program* p : {&fast, &written, &invalidates}) check_none(p->finish_trace());
}

// --- first-touch ---

TEST_CASE("first-touch: results received into memory that nobody has touched") {
  const auto program = [](bool sent, bool slow, bool written) {
    Program p;
    if (written) p.launch(p.k, {{p.b, Effect::UseDef}});
    p.read(p.b, p.host, 8 * MiB);
    p.at_place(0x8000);
    const Object fresh = p.allocate(64 * MiB);
    if (sent) p.write(p.b, fresh, MiB);
    for (int i = 0; i < 10; ++i) {
      p.use();
      p.read(p.b, fresh, 64 * MiB, {.device_ns = i == 0 && slow ? 25'000'000u : 5'000'000u});
    }
    return p.finish_trace();
  };
  CHECK(seconds(only(program(false, true, true), "first-touch")) == about(0.02));
  check_none(program(true, true, false));
  check_none(program(false, false, true));
  check_none(program(false, true, false));
}

// --- allocation-churn ---

TEST_CASE("allocation-churn: large memory for each transfer") {
  Program p;
  p.at_place(0x8000);
  for (int i = 0; i < 50; ++i) {
    const Object m = p.allocate(64 * MiB);
    p.write(p.b, m, 8 * MiB);
    p.use();
    p.free(m);
  }
  CHECK(seconds(only(p.finish_trace(), "allocation-churn")) == about(49 * 2048 * 100e-9));
}

TEST_CASE("allocation-churn: mapped memory of any size; no word where the C library keeps it") {
  for (const bool mapped : {true, false}) {
    Program p;
    p.at_place(0x8000);
    for (int i = 0; i < 50; ++i) {
      const Object m = p.allocate(16 * MiB, mapped ? api::AllocFn::Mmap : api::AllocFn::Malloc);
      p.write(p.b, m, 8 * MiB);
      p.use();
      p.free(m);
    }
    const Trace trace = p.finish_trace();
    if (mapped)
      only(trace, "allocation-churn");
    else
      check_none(trace);
  }
}

TEST_CASE("allocation-churn: no word about memory that lives, or that is never transferred") {
  Program lives, host_only;
  lives.at_place(0x8000), host_only.at_place(0x8000);
  for (int i = 0; i < 50; ++i) {
    lives.write(lives.b, lives.allocate(64 * MiB), 8 * MiB);
    lives.use();
    const Object m = host_only.allocate(64 * MiB);
    host_only.write(host_only.b, host_only.host, 8 * MiB);
    host_only.use();
    host_only.free(m);
  }
  check_none(lives.finish_trace());
  check_none(host_only.finish_trace());
}

// --- Savings ---

TEST_CASE("findings are sorted, and what they save together is no more than there is") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB, {.content = 7});
    p.launch(p.k, {{p.b, Effect::Use}}, 100'000);
    p.finish(400'000);
  }
  const auto found = found_in(p.finish_trace());
  REQUIRE(found.findings.size() == 2);
  CHECK(seconds(found.findings[0]) >= seconds(found.findings[1]));
  CHECK(found.total_s == about(seconds(found.findings[0]) + seconds(found.findings[1])));
}

TEST_CASE("savings at the same calls are not added up") {
  Program p;
  for (int i = 0; i < Times; ++i) p.write(p.b, p.host, MiB);
  p.use();
  const Trace t = p.finish_trace();
  Finding f;
  f.saving_s = 0.08;
  for (ShapeId s = 0; s < t.shapes.size(); ++s)
    if (t.shapes[s].fn == fn(api::FnId::clEnqueueWriteBuffer)) f.calls = {s};
  CHECK(analyzer::total_saving_s(t, {f}, 1'000'000'000) == about(0.08));
  CHECK(analyzer::total_saving_s(t, {f, f}, 1'000'000'000) == about(0.1));
  CHECK(analyzer::total_saving_s(t, {f, f}, 50'000'000) == about(0.05));
}

TEST_CASE("below one in a hundred of the run nothing is said") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB, {.content = 7});
    p.use();
  }
  check_none(p.finish_trace(100'000'000'000));
}
