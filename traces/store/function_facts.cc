// Facts about functions, from the API table.
#include "traces/store/function_facts.h"

#include "traces/api/api.h"

namespace gt::store {

std::string function_name(model::FnId fn) {
  const std::string name = api::function_name(fn);
  return name == "?" ? "function " + std::to_string(fn) : name;
}

model::Direction transfer_direction(model::FnId fn) {
  switch (api::attributes(fn).transfer) {
    case api::Transfer::HostToDevice: return model::Direction::HostToDevice;
    case api::Transfer::DeviceToHost: return model::Direction::DeviceToHost;
    case api::Transfer::DeviceToDevice: return model::Direction::DeviceToDevice;
    case api::Transfer::None: break;
  }
  return model::Direction::None;
}

bool launches_kernel(model::FnId fn) { return api::attributes(fn).launch && !api::attributes(fn).records; }
bool is_alloc_fn(model::FnId fn) { return api::is_alloc_fn(fn); }
bool is_callback_fn(model::FnId fn) { return api::is_callback_fn(fn); }

const char* direction_name(model::Direction direction) {
  constexpr const char* Names[] = {"", "h2d", "d2h", "d2d"};
  return Names[static_cast<size_t>(direction)];
}

}  // namespace gt::store
