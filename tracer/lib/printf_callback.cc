#include "tracer/lib/printf_callback.h"

#include <utility>

#include "tracer/lib/readable.h"
#include "tracer/lib/trampoline.h"
#include "traces/api/properties.h"

namespace gt::tracer {

namespace {

constexpr cl_context_properties PrintfKey = 0x40B0;  // CL_PRINTF_CALLBACK_ARM, which not all headers have

cl_context_properties our_function() {
  using Ours = detail::Trampoline<CallbackFn::Printf, const char*, size_t, size_t>;
  return reinterpret_cast<cl_context_properties>(&Ours::run);
}

// The value of the key; nullptr: it is not there.
cl_context_properties* find_value(std::span<cl_context_properties> list) {
  api::PropertyWalk walk;
  for (size_t i = 0; i + 1 < list.size(); ++i) {
    const bool key = walk.at_key();
    if (key && list[i] == 0) return nullptr;
    walk.is_object(static_cast<uint64_t>(list[i]));
    if (key && list[i] == PrintfKey) return &list[i + 1];
  }
  return nullptr;
}

}  // namespace

void* PrintfCallback::find(const cl_context_properties* list) {
  const size_t words =
      list ? api::property_words(list, [](const void* p) { return readable(p, sizeof *copy_); }) : 0;
  if (words + 1 > Most) return nullptr;
  for (size_t i = 0; i < words; ++i) copy_[i] = list[i];
  copy_[words] = 0;
  cl_context_properties* value = find_value({copy_, words + 1});
  if (!value) return nullptr;
  return reinterpret_cast<void*>(std::exchange(*value, our_function()));
}

void show_own_printf(std::span<cl_context_properties> list, cl_context context) {
  cl_context_properties* value = find_value(list);
  if (!value || *value != our_function()) return;
  if (void* own = print_function_of(context)) *value = reinterpret_cast<cl_context_properties>(own);
}

}  // namespace gt::tracer
