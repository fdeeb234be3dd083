#include "traces/api/callback_fn.h"

#include <array>
#include <cstddef>

namespace gt::api {

namespace {

constexpr std::array Names = {
    "context callback", "context destructor callback", "memory destructor callback",
    "program callback", "program release callback",    "event callback",
    "native kernel",    "svm free callback",           "printf callback",
};
static_assert(Names.size() == static_cast<size_t>(CallbackFn::Count) - FirstCallbackFn);

}  // namespace

const char* callback_fn_name(uint16_t fn) {
  const size_t i = static_cast<size_t>(fn) - FirstCallbackFn;
  return fn >= FirstCallbackFn && i < Names.size() ? Names[i] : "?";
}

}  // namespace gt::api
