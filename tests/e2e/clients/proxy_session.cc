// Answers of the client of gproxy for tests.
#include <unistd.h>

#include "tests/e2e/clients/proxy_client.h"

namespace gt::proxy_test {

using wire::MessageType;

void Session::on_frame(ByteView frame) {
  const std::lock_guard lock(mutex_);
  wire::Printed text;
  wire::Failed failure;
  wire::Built build;
  switch (static_cast<MessageType>(frame[0])) {
    case MessageType::Surveyed: answered_ = wire::decode(frame, surveyed); break;
    case MessageType::Pong:
    case MessageType::Reply: answered_ = true; break;
    case MessageType::Built:
      answered_ = wire::decode(frame, build);
      built = build.code;
      build_log.clear();
      for (const wire::BuildResult& device : build.devices) build_log += device.log;
      break;
    case MessageType::Printed:
      if (wire::decode(frame, text)) printed += as_text(text.text);
      break;
    case MessageType::Failed:
      if (wire::decode(frame, failure)) failed.push_back(failure.code);
      break;
    default: break;
  }
  changed_.notify_all();
}

void Session::on_closed(const Status& why) {
  if (end_when_lost_) {
    std::fprintf(stderr, "lost: %s\n", why.text().c_str());
    ::_exit(Lost);
  }
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

}  // namespace gt::proxy_test
