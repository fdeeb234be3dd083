#include "tracer/gtrace/replay/session.h"

#include <cstdio>

namespace gt::tracer {

Result<std::unique_ptr<ReplaySession>> ReplaySession::open(const OpenedTrace& opened, uint32_t process,
                                                           const std::string& device) {
  Result<std::unique_ptr<OpenClLibrary>> library = OpenClLibrary::open();
  if (!library) return library.status();
  Result<DeviceChoice> devices = DeviceChoice::choose(**library, opened.trace, device);
  if (!devices) return devices.status();
  Result<std::unique_ptr<StoredContents>> contents = StoredContents::open(opened.path, opened.trace, process);
  if (!contents) return contents.status();
  auto session = std::unique_ptr<ReplaySession>(new ReplaySession());
  session->library_ = std::move(*library);
  session->devices_ = std::make_unique<DeviceChoice>(std::move(*devices));
  session->contents_ = std::move(*contents);
  session->world_ = std::make_unique<ReplayWorld>(opened.trace, *session->library_, *session->devices_);
  session->world_->contents = session->contents_.get();
  if (session->contents_ && !session->contents_->trouble().ok())
    std::fprintf(stderr, "gtrace: %s\n", session->contents_->trouble().text().c_str());
  if (const Status s = session->put_headers(opened.trace, process); !s.ok()) return s.at(opened.path);
  return session;
}

Status ReplaySession::put_headers(const model::Trace& trace, uint32_t process) {
  if (!contents_) return {};
  headers_ = std::make_unique<RecordedHeaders>(contents_->reader(), trace, process);
  if (!headers_->any()) return {};
  GT_TRY(header_folder_.fill(*headers_));
  world_->headers = headers_.get();
  world_->header_folder = header_folder_.path();
  return {};
}

}  // namespace gt::tracer
