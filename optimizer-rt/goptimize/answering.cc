// goptimize's side of the requests.
#include "optimizer-rt/goptimize/answering.h"

#include <cstring>

namespace gt::opt {
namespace {

template <size_t N>
std::string text_of(const char (&text)[N]) {
  return std::string(text, ::strnlen(text, N));
}

}  // namespace

model::DeviceName device_of(const DeviceTexts& texts) {
  return {text_of(texts.platform), text_of(texts.name), text_of(texts.driver)};
}

void answer_requests(Requests& requests, const std::function<void(const model::DeviceName&)>& answer) {
  requests.beats.fetch_add(1, std::memory_order_relaxed);
  for (RequestSlot& slot : requests.slots) {
    if (slot.state.load(std::memory_order_acquire) != RequestSlot::Asked) continue;
    answer(device_of(slot.device));
    slot.state.store(RequestSlot::Answered, std::memory_order_release);
  }
}

}  // namespace gt::opt
