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
  return is_callback_fn(fn) ? Names[static_cast<size_t>(fn) - FirstCallbackFn] : "?";
}

}  // namespace gt::api
