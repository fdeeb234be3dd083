// The rules about what is sent, on programs that have their problem and on programs that nearly have it.
#include "tests/unit/findings_check.h"

using namespace gt;
using namespace gt::testing;

// --- repeated-sends ---

TEST_CASE("repeated-sends: the same bytes to a buffer that has them") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB, {.content = 7});
    p.use();
  }
  CHECK(seconds(only(p.finish_trace(), "repeated-sends")) == about(0.099));
}

TEST_CASE("repeated-sends: two buffers in turn") {
  Program p;
  p.at_place(0x5000);
  const Object other = p.buffer(MiB);
  for (int i = 0; i < Times; ++i) {
    p.write(i % 2 ? p.b : other, p.host, MiB, {.content = i % 2});
    p.launch(p.k, {{i % 2 ? p.b : other, Effect::Use}});
  }
  const auto found = found_in(p.finish_trace()).findings;
  double all = 0;
  for (const Finding& f : found) {
    CHECK(f.rule == "repeated-sends");
    all += seconds(f);
  }
  CHECK(all == about(0.098));
}

TEST_CASE("repeated-sends: to a buffer that is made anew each time") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    const Object b = p.buffer(MiB);
    p.write(b, p.host, MiB, {.content = 7});
    p.launch(p.k, {{b, Effect::Use}});
    p.release(b);
  }
  const Finding f = only(p.finish_trace(), "repeated-sends");
  CHECK(seconds(f) == about(0.099));
  CHECK(f.advice.find("Keep the buffer") != std::string::npos);
}

TEST_CASE("repeated-sends: nothing without captured contents, and the hint says so once") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB);
    p.use();
  }
  const auto found = found_in(p.finish_trace());
  CHECK(found.findings.empty());
  CHECK(found.hint.find("--capture hash") != std::string::npos);
}

TEST_CASE("repeated-sends: no word when the contents change, or are not known") {
  for (const bool known : {true, false}) {
    Program p;
    for (int i = 0; i < Times; ++i) {
      p.write(p.b, p.host, MiB, {.content = known ? i * i % 89 * 100 + i : -1});
      p.use();
    }
    const auto found = found_in(p.finish_trace());
    CHECK(found.findings.empty());
    CHECK(found.hint.empty());
  }
}

TEST_CASE("repeated-sends: no word about memory that receives without blocking, for its bytes may still be under way") {
  for (const bool blocking : {true, false}) {
    Program p;
    const Object other = p.buffer(MiB);
    for (int i = 0; i < Times; ++i) {
      p.write(p.b, p.host, MiB, {.content = 7});
      p.use();
    }
    p.read(other, p.host, MiB, {.blocking = blocking});
    const auto found = found_in(p.finish_trace()).findings;
    CHECK(std::any_of(found.begin(), found.end(), [](const Finding& f) { return f.rule == "repeated-sends"; }) ==
          blocking);
  }
}

TEST_CASE("repeated-sends: no word when a kernel has written the buffer in between") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB, {.content = 7});
    p.launch(p.k, {{p.b, Effect::UseDef}});
  }
  check_none(p.finish_trace());
}

TEST_CASE("repeated-sends: no word when another part was sent, or the part was overwritten") {
  Program p, q;
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB / 2, {.offset = i * MiB / 2, .content = 7, .device_ns = 5'000});
    p.use();
    q.write(q.b, q.host, MiB, {.content = 7});
    q.use();
    q.write(q.b, q.host, MiB / 2, {.content = 8});
    q.use();
  }
  check_none(p.finish_trace());
  check_none(q.finish_trace());
}

TEST_CASE("repeated-sends: no word about buffers that lie over the program's own memory") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.call(fn(api::FnId::clEnqueueWriteBuffer),
           {to(0, Effect::Use, p.queue), to(1, Effect::UseDef, p.b), number(2, 1), number(3, 0), number(4, MiB),
            at(5, Effect::Use, p.host), number(ParamReturn, 0), number(ParamContent, 7),
            at(ParamImplied, Effect::UseDef, p.host)},
           1'000'000, 1'000'000, MiB, Direction::HostToDevice);
    p.use();
  }
  check_none(p.finish_trace());
}

TEST_CASE("repeated-sends: a trace with gaps proves nothing") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB, {.content = 7});
    p.use();
  }
  p.lose_calls();
  check_none(p.finish_trace());
}

TEST_CASE("repeated-sends: failed calls send nothing") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.call(fn(api::FnId::clEnqueueWriteBuffer),
           {to(0, Effect::Use, p.queue), to(1, Effect::UseDef, p.b), number(2, 1), number(3, 0), number(4, MiB),
            at(5, Effect::Use, p.host), number(ParamReturn, -30), number(ParamContent, 7)},
           1'000'000, 1'000'000, MiB, Direction::HostToDevice);
    p.use();
  }
  check_none(p.finish_trace());
}

// --- unread-sends ---

TEST_CASE("unread-sends: overwritten before any kernel runs") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB);
    p.at_place(0x4100);
    p.write(p.b, p.host, MiB);
    p.use();
    p.at_place(0x4000);
  }
  CHECK(seconds(only(p.finish_trace(), "unread-sends")) == about(0.1));
}

TEST_CASE("unread-sends: to buffers that are released unused") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    const Object b = p.buffer(MiB);
    p.write(b, p.host, MiB);
    p.release(b);
    p.use();
  }
  CHECK(seconds(only(p.finish_trace(), "unread-sends")) == about(0.1));
}

TEST_CASE("unread-sends: an argument that the kernel does not touch") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB);
    p.launch(p.k, {{p.b, Effect::None}});
  }
  CHECK(seconds(only(p.finish_trace(), "unread-sends")) == about(0.1));
}

TEST_CASE("unread-sends: no word where a kernel may read, or only a part is overwritten") {
  Program p, q;
  p.write(p.b, p.host, MiB);
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB);
    p.launch(p.k, {{p.b, Effect::UseDef}});
    q.write(q.b, q.host, MiB);
    q.write(q.b, q.host, MiB / 2);
    q.use();
  }
  check_none(p.finish_trace());
  check_none(q.finish_trace());
}

TEST_CASE("unread-sends: no word about pieces that one kernel reads together, in whatever order they are sent") {
  Program p, q;
  for (int i = 0; i < Times; ++i) p.write(p.b, p.host, MiB / 16, {.offset = (Times - i) * MiB / 16});
  p.use();
  std::vector<Object> many;
  q.at_place(0x6000);
  for (int i = 0; i < Times; ++i) many.push_back(q.buffer(MiB));
  for (int i = 0; i < Times; ++i) q.write(many[static_cast<size_t>(i)], q.host, MiB);
  for (int i = Times; i-- > 0;) q.launch(q.k, {{many[static_cast<size_t>(i)], Effect::Use}});
  check_none(p.finish_trace());
  check_none(q.finish_trace());
}

TEST_CASE("unread-sends: reading back, copying and mapping are reading") {
  Program p, q, r;
  q.at_place(0x7000);
  const Object copy = q.buffer(MiB);
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB);
    p.read(p.b, p.host, MiB);
    q.write(q.b, q.host, MiB);
    q.call(fn(api::FnId::clEnqueueCopyBuffer),
           {to(0, Effect::Use, q.queue), to(1, Effect::Use, q.b), to(2, Effect::UseDef, copy), number(3, 0),
            number(4, 0), number(5, MiB), number(ParamReturn, 0)},
           1000, 1000, MiB, Direction::DeviceToDevice);
    r.write(r.b, r.host, MiB);
    r.unmap(r.b, r.map(r.b, MiB, 1, 1000), MiB, false, 1000);
  }
  check_none(p.finish_trace());
  check_none(q.finish_trace());
  check_none(r.finish_trace());
}

// --- returned-results ---

TEST_CASE("returned-results: to the buffer that still has them") {
  Program p;
  p.write(p.b, p.host, MiB, {.content = 0});
  for (int i = 0; i < Times; ++i) {
    p.launch(p.k, {{p.b, Effect::UseDef}});
    p.read(p.b, p.host, MiB, {.content = i + 1});
    p.write(p.b, p.host, MiB, {.content = i + 1});
  }
  CHECK(seconds(only(p.finish_trace(), "returned-results")) == about(0.1));
}

TEST_CASE("returned-results: to the input of the next kernel") {
  Program p;
  p.at_place(0x5000);
  const Object in = p.buffer(MiB);
  for (int i = 0; i < Times; ++i) {
    p.launch(p.k, {{in, Effect::Use}, {p.b, Effect::UseDef}});
    p.read(p.b, p.host, MiB, {.content = i});
    p.write(in, p.host, MiB, {.content = i});
  }
  const Finding f = only(p.finish_trace(), "returned-results");
  CHECK(seconds(f) == about(0.1));
  CHECK(f.advice.find("clEnqueueCopyBuffer") != std::string::npos);
}

TEST_CASE("returned-results: no word when the host has changed them, or sends them from elsewhere") {
  Program p, q;
  q.at_place(0x8000);
  const Object elsewhere = q.allocate(MiB);
  q.at_place(0x5000);
  const Object in = q.buffer(MiB);
  for (int i = 0; i < Times; ++i) {
    p.launch(p.k, {{p.b, Effect::UseDef}});
    p.read(p.b, p.host, MiB, {.content = 2 * i});
    p.write(p.b, p.host, MiB, {.content = 2 * i + 1});
    q.launch(q.k, {{in, Effect::Use}, {q.b, Effect::UseDef}});
    q.read(q.b, q.host, MiB, {.content = i});
    q.write(in, elsewhere, MiB, {.content = i});
  }
  check_none(p.finish_trace());
  check_none(q.finish_trace());
}
