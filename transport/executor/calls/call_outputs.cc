#include "transport/executor/calls/call_outputs.h"

#include <algorithm>

#include "traces/api/api.h"
#include "traces/api/properties.h"
#include "traces/api/wire.h"

namespace gt::exec {
namespace {

using api::FnInfo;
using api::NullWord;
using api::ObjectKind;
using api::Wire;

// Goes through outputs word by word. `handle(word, kind, param)` may change the word.
template <class Handle, class Code>
class Walk {
 public:
  Walk(uint8_t* begin, size_t bytes, Handle handle, Code code)
      : at_(begin), end_(begin + bytes), handle_(handle), code_(code) {}

  void run(const FnInfo& info) {
    if (info.result.out == Wire::Handle) object(info.result.kind, nullptr);
    if (info.result.out == Wire::Int) number(info.result);
    for (uint16_t i = 0; i < info.param_count; ++i) param(info.params[i]);
  }

 private:
  uint64_t peek() const {
    uint64_t v = 0;
    if (end_ - at_ >= 8) std::memcpy(&v, at_, 8);
    return v;
  }
  uint64_t word() {
    const uint64_t v = peek();
    skip(8);
    return v;
  }
  void skip(uint64_t bytes) { at_ += std::min<uint64_t>(bytes, static_cast<uint64_t>(end_ - at_)); }
  void object(ObjectKind kind, const api::ParamInfo* info) {
    if (end_ - at_ < 8) return;
    const uint64_t v = handle_(peek(), kind, info);
    std::memcpy(at_, &v, 8);
    at_ += 8;
  }
  void number(const api::ParamInfo& info) {
    const uint64_t v = word();
    if (info.error_code) code_(static_cast<cl_int>(v));
  }
  void param(const api::ParamInfo& info) {
    if (info.out == Wire::None) return;
    const uint64_t n = word();  // a count, a length, or what a query's answer is
    if (info.out == Wire::Info) return n == api::InfoNull ? void() : answer(info, n);
    if (n == NullWord) return;
    if (info.out == Wire::Bytes) return skip(api::padded(n));
    for (uint64_t i = 0; i < n && at_ != end_; ++i) info.out == Wire::Handles ? object(info.kind, &info) : number(info);
  }
  void answer(const api::ParamInfo& info, uint64_t tag) {
    const uint64_t length = word();
    uint8_t* const after = at_ + std::min<uint64_t>(api::padded(length), static_cast<uint64_t>(end_ - at_));
    api::PropertyWalk list;
    for (uint64_t i = 0; i + 8 <= length && tag != api::InfoBytes; i += 8) {
      if (tag >= api::InfoHandles)
        object(static_cast<ObjectKind>(tag - api::InfoHandles), &info);
      else if (tag == api::InfoList && list.is_object(peek()))
        object(list.kind(), &info);
      else
        skip(8);
    }
    at_ = after;
  }

  uint8_t* at_;
  uint8_t* end_;
  Handle handle_;
  Code code_;
};

}  // namespace

void rename_handles(api::FnId fn, Bytes& outputs, const std::function<uint64_t(const OutHandle&)>& rename) {
  const auto handle = [&](uint64_t value, ObjectKind kind, const api::ParamInfo* info) -> uint64_t {
    const bool made = !info || (info->effect == api::Effect::Def && info->out == Wire::Handles);
    return value ? rename({kind, value, made, !info}) : 0;
  };
  Walk(outputs.data(), outputs.size(), handle, [](cl_int) {}).run(api::fn_info(static_cast<uint16_t>(fn)));
}

cl_int code_of(api::FnId fn, ByteView outputs) {
  const FnInfo& info = api::fn_info(static_cast<uint16_t>(fn));
  bool null_handle = false;
  cl_int code = CL_SUCCESS;
  const auto handle = [&](uint64_t value, ObjectKind, const api::ParamInfo* param) {
    null_handle = null_handle || (!param && value == 0);
    return value;
  };
  auto* const words = const_cast<uint8_t*>(outputs.data());  // every handle is written back as it was
  Walk(words, outputs.size(), handle, [&](cl_int c) { code = c; }).run(info);
  return code == CL_SUCCESS && null_handle ? CL_OUT_OF_RESOURCES : code;
}

Bytes failed_outputs(api::FnId fn, cl_int code) {
  const FnInfo& info = api::fn_info(static_cast<uint16_t>(fn));
  const auto code_word = static_cast<uint64_t>(int64_t{code});
  api::VectorWriter w;
  if (info.result.out == Wire::Int) w.word(code_word);
  if (info.result.out == Wire::Handle || info.result.out == Wire::Code) w.word(0);
  if (info.result.out == Wire::HostData) {
    w.word(0);
    w.word(api::NoContents);
  }
  for (uint16_t i = 0; i < info.param_count; ++i) {
    const api::ParamInfo& param = info.params[i];
    if (param.out == Wire::None) continue;
    w.word(param.error_code ? 1 : param.out == Wire::Info ? uint64_t{api::InfoNull} : NullWord);
    if (param.error_code) w.word(code_word);
  }
  return std::move(w.view());
}

}  // namespace gt::exec
