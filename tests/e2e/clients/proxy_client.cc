// A client of gproxy that speaks the protocol itself:
//   proxy_client URL TOKEN_FILE JOB [--cert FILE --key FILE --ca FILE]
//
//   survey        prints the name of each device
//   hold          prints "ready"; answers "ping" on standard input with "pong" after a round trip; ends with its input
//   print:N       N work items print a line each; prints what came back
//   fill:BYTES:N  makes N buffers and writes into each; prints the codes of what failed; then holds
//   build:FILE    builds a program; prints the code, and what the driver says
//   crash         runs a kernel that writes where nothing is
// Status 1 and one line: the connection did not come about. 3: the session ended on its own.
#include "tests/e2e/clients/proxy_client.h"

#include <CL/cl.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

namespace gt::proxy_test {
namespace {

using api::FnId;
using wire::ObjectId;

constexpr const char* Source = R"(
kernel void print() { printf("line %d\n", (int)get_global_id(0)); }
kernel void crash(ulong where) { *(global int*)where = 1; }
)";

void print_devices(const Session& session) {
  for (const wire::SurveyedDevice& d : session.surveyed.devices) {
    for (const wire::InfoValue& info : d.infos) {
      if (info.name == CL_DEVICE_NAME) std::printf("%s\n", reinterpret_cast<const char*>(info.value.data()));
    }
  }
}

void say(const char* text) {
  std::printf("%s\n", text);
  std::fflush(stdout);
}

int hold(Session& session) {
  session.end_when_lost(true);
  say("ready");
  for (std::string line; std::getline(std::cin, line);) say(session.ask(wire::Ping{1, 0}) ? "pong" : "lost");
  session.end_when_lost(false);
  return 0;
}

// A context on the first device, and a queue.
struct Place {
  explicit Place(Session& session) {
    const auto device = named<cl_device_id>(session.surveyed.devices.at(0).id);
    cl_int code = 0;
    context = session.make<FnId::clCreateContext>(nullptr, 1, &device, nullptr, nullptr, &code);
    queue = session.make<FnId::clCreateCommandQueue>(named<cl_context>(context), device, 0, &code);
  }
  ObjectId context = 0, queue = 0;
};

// Launches a kernel of Source. False: the session was lost.
bool launch(Session& session, const char* name, uint64_t items, bool with_address) {
  const Place place(session);
  const size_t length = std::strlen(Source);
  const char* source = Source;
  cl_int code = 0;
  wire::Build build;
  build.reply = 1;
  build.program =
      session.make<FnId::clCreateProgramWithSource>(named<cl_context>(place.context), 1, &source, &length, &code);
  if (!session.ask(build) || session.built != CL_SUCCESS) return false;
  wire::Launch m;
  m.queue = place.queue;
  m.kernel = session.make<FnId::clCreateKernel>(named<cl_program>(build.program), name, &code);
  m.dimensions = 1;
  m.global = {items, 1, 1};
  const uint64_t nowhere = 8;
  wire::KernelArg where;
  where.value = {reinterpret_cast<const uint8_t*>(&nowhere), sizeof nowhere};
  if (with_address) m.args.push_back(where);
  return session.send(m) && session.finish();
}

int build(Session& session, const char* path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Place place(session);
  const char* source = text.c_str();
  const size_t length = text.size();
  cl_int code = 0;
  wire::Build build;
  build.reply = 1;
  build.program =
      session.make<FnId::clCreateProgramWithSource>(named<cl_context>(place.context), 1, &source, &length, &code);
  if (!session.ask(build)) return Lost;
  std::printf("%d\n%s", session.built, session.build_log.c_str());
  return 0;
}

int print(Session& session, uint64_t items) {
  const bool done = launch(session, "print", items, false);
  std::fwrite(session.printed.data(), 1, session.printed.size(), stdout);
  return done ? 0 : Lost;
}

int fill(Session& session, uint64_t bytes, int count) {
  const Place place(session);
  for (int i = 0; i < count; ++i) {
    cl_int code = 0;
    wire::Write write;
    write.queue = place.queue;
    write.mem = session.make<FnId::clCreateBuffer>(named<cl_context>(place.context), CL_MEM_READ_WRITE, bytes, nullptr,
                                                   &code);
    write.part.region[0] = write.bytes = 4;
    write.data = as_bytes("abcd");
    session.send(write);
  }
  if (!session.finish()) return Lost;
  for (const int code : session.failed) std::printf("%d ", code);
  say("");
  return hold(session);
}

int work(Session& session, const std::string& job) {
  wire::Survey survey;
  survey.reply = 1;
  if (!session.ask(survey)) return Lost;
  if (job == "hold") return hold(session);
  if (job == "crash") return launch(session, "crash", 1, true) ? 0 : Lost;
  if (job.starts_with("build:")) return build(session, &job[6]);
  if (job.starts_with("print:")) return print(session, std::strtoull(&job[6], nullptr, 10));
  if (job.starts_with("fill:")) {
    char* rest = nullptr;
    const uint64_t bytes = std::strtoull(&job[5], &rest, 10);
    return fill(session, bytes, std::atoi(rest + 1));
  }
  print_devices(session);
  return job == "survey" ? 0 : 2;
}

int fail(const char* what, const Status& s) {
  std::fprintf(stderr, "%s: %s\n", what, s.text().c_str());
  return 1;
}

}  // namespace
}  // namespace gt::proxy_test

int main(int argc, char** argv) {
  using namespace gt;
  using namespace gt::proxy_test;
  if (argc != 4 && argc != 10) return 2;
  const auto url = wire::parse_url(argv[1]);
  if (!url) return fail("URL", url.status());
  wire::Credentials credentials;
  auto token = wire::read_token(argv[2]);
  if (!token) return fail("token", token.status());
  credentials.token = *token;
  if (argc == 10) credentials = {{}, argv[5], argv[7], argv[9]};
  wire::LinkOptions options;
  options.connect_ms = 10'000;  // the machines of tests are slow
  auto link = wire::connect(*url, credentials, options);
  if (!link) return fail("connect", link.status());
  Session session(std::move(*link));
  if (Status s = session.start(); !s.ok()) return fail("start", s);
  return work(session, argv[3]);
}
