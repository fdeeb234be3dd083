// A client of gproxy that speaks the protocol itself:
//   proxy_client URL TOKEN_FILE survey|hold [--cert FILE --key FILE --ca FILE]
//
//   survey   prints the name of each device
//   hold     prints "ready"; answers "ping" on standard input with "pong" after a round trip; ends with its input.
//            When the session is lost meanwhile, it ends at once with status 3.
// Status 1 and one line: the connection did not come about.
#include <CL/cl.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <mutex>
#include <string>

#include "transport/link/connect.h"
#include "transport/protocol/codec.h"
#include "transport/protocol/messages.h"

namespace {

using namespace gt;

constexpr int Lost = 3;

class Client final : public wire::LinkHandler {
 public:
  bool lose_quietly = true;  // otherwise losing the session ends the process

  void on_frame(ByteView frame) override {
    const auto type = static_cast<wire::MessageType>(frame[0]);
    const std::lock_guard lock(mutex_);
    if (type == wire::MessageType::Surveyed) answered_ = wire::decode(frame, surveyed_);
    if (type == wire::MessageType::Pong) answered_ = true;
    changed_.notify_all();
  }
  void on_put(wire::Notice, size_t) override {}
  void on_closed(const Status& why) override {
    if (!lose_quietly) {
      std::fprintf(stderr, "lost: %s\n", why.text().c_str());
      ::_exit(Lost);
    }
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  template <class Question>
  bool ask(wire::Link& link, const Question& question) {
    Bytes frame;
    wire::encode(question, frame);
    const ByteView part(frame);
    std::unique_lock lock(mutex_);
    answered_ = false;
    lock.unlock();
    if (!link.send({&part, 1}).ok()) return false;
    lock.lock();
    changed_.wait(lock, [this] { return answered_ || closed_; });
    return answered_;
  }

  void print_devices() const {
    for (const wire::SurveyedDevice& d : surveyed_.devices) {
      for (const wire::InfoValue& info : d.infos) {
        if (info.name != CL_DEVICE_NAME) continue;
        std::printf("%s\n", reinterpret_cast<const char*>(info.value.data()));
      }
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool answered_ = false, closed_ = false;
  wire::Surveyed surveyed_;
};

int hold(Client& client, wire::Link& link) {
  client.lose_quietly = false;
  std::printf("ready\n");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    const bool answered = client.ask(link, wire::Ping{1, 0});
    std::printf("%s\n", answered ? "pong" : "lost");
    std::fflush(stdout);
  }
  client.lose_quietly = true;
  return 0;
}

int fail(const char* what, const Status& s) {
  std::fprintf(stderr, "%s: %s\n", what, s.text().c_str());
  return 1;
}

int work(wire::Link& link, const std::string& command) {
  Client client;
  if (Status s = link.start(client); !s.ok()) return fail("start", s);
  int status = Lost;
  if (client.ask(link, wire::Survey{1})) {
    status = 0;
    command == "hold" ? void(status = hold(client, link)) : client.print_devices();
  }
  link.close();
  return status;
}

}  // namespace

int main(int argc, char** argv) {
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
  return work(**link, argv[3]);
}
