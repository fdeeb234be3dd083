// The table as data.
#include "traces/api/api.h"

#include <array>

#include "traces/api/table.h"

namespace gt::api {
namespace {

template <class P>
constexpr ParamInfo describe(const char* name, const char* group) {
  using R = typename P::Role;
  return {name,
          group,
          R::in,
          R::out,
          R::kind,
          R::effect,
          std::is_signed_v<std::remove_cv_t<std::remove_pointer_t<typename P::Type>>>,
          std::is_same_v<R, role::ErrcodeRet>};
}
template <class R>
constexpr ParamInfo describe_result() {
  constexpr bool error = std::is_same_v<R, role::Code>;
  return {"return", error ? "error" : "", R::in, R::out, R::kind, R::effect, error, error};
}

constexpr size_t MaxParams = 16;
struct Named {
  std::array<ParamInfo, MaxParams> params{};
};

namespace rows {
using namespace gt::api::role;
#define GT_BEGIN(fn, result, ...) constexpr Named params_##fn = {{
#define GT_PARAM(type, name, group, ...) describe<Param<type, __VA_ARGS__>>(#name, group),
#define GT_END(fn, ...) \
  }                     \
  }                     \
  ;
#include "traces/api/gen/api_table.inc"
#undef GT_END
#define GT_END(fn) \
  }                \
  }                \
  ;
#include "traces/api/callback_table.inc"
#undef GT_BEGIN
#undef GT_PARAM
#undef GT_END
}  // namespace rows

template <FnId F>
constexpr FnInfo entry(const char* name, const Named& named) {
  static_assert(ParamCount<F> <= MaxParams);
  return {name, named.params.data(), ParamCount<F>, describe_result<typename Fn<F>::ResultRole>(),
          Fn<F>::attributes};
}

constexpr std::array<FnInfo, FnCount> make_table() {
  std::array<FnInfo, FnCount> table{};
#define GT_FN_ID(name, id) table[id] = entry<FnId::name>(#name, rows::params_##name);
#include "traces/api/gen/fn_ids.inc"
#undef GT_FN_ID
  return table;
}
constexpr std::array<FnInfo, FnCount> table = make_table();

// In the order of CallbackFn.
constexpr std::array callbacks = {
#define GT_BEGIN(name, result, role) entry<fn_id(CallbackFn::name)>("callback", rows::params_##name),
#define GT_PARAM(type, name, group, ...)
#define GT_END(name)
#include "traces/api/callback_table.inc"
#undef GT_BEGIN
#undef GT_PARAM
#undef GT_END
};
static_assert(callbacks.size() == static_cast<size_t>(CallbackFn::Count) - FirstCallbackFn);

}  // namespace

const FnInfo& fn_info(uint16_t fn) {
  if (is_callback_fn(fn)) return callbacks[fn - FirstCallbackFn];
  return fn < FnCount ? table[fn] : table[0];
}

const ParamInfo& param_info(uint16_t fn, uint16_t param) {
  static constexpr ParamInfo none;
  const FnInfo& info = fn_info(fn);
  return param < info.param_count ? info.params[param] : none;
}

const char* function_name(uint16_t fn) {
  if (fn >= FirstCallbackFn) return callback_fn_name(fn);
  return fn >= FirstAllocFn ? alloc_fn_name(fn) : fn_info(fn).name;
}

uint16_t find_function(std::string_view name) {
  for (uint16_t fn = 1; fn < FnCount; ++fn)
    if (name == table[fn].name) return fn;
  return 0;
}

}  // namespace gt::api
