#include "optimizer-rt/client/base/answers.h"

namespace gt::virt {

uint64_t CallAnswer::number(uint16_t param, uint64_t otherwise) const {
  for (const api::DecodedArg& a : outputs) {
    if (a.param == param && a.tag != api::Tag::Null) return a.value;
  }
  return otherwise;
}

ByteView CallAnswer::bytes(uint16_t param) const {
  for (const api::DecodedArg& a : outputs) {
    if (a.param == param && a.tag == api::Tag::Bytes) return a.data;
  }
  return {};
}

std::vector<uint64_t> CallAnswer::numbers(uint16_t param) const {
  std::vector<uint64_t> list;
  for (const api::DecodedArg& a : outputs) {
    if (a.param == param && a.tag == api::Tag::Int) list.push_back(a.value);
  }
  return list;
}

CallAnswer answer_of(api::FnId fn, ByteView bytes) {
  CallAnswer answer;
  if (bytes.empty() || !api::decode_outputs(fn, bytes, answer.outputs)) return answer;
  for (const api::DecodedArg& a : answer.outputs) {
    if (a.param == api::DecodedReturn && a.tag == api::Tag::Int) answer.code = static_cast<cl_int>(a.value);
  }
  return answer;
}

cl_int creation_code(api::FnId fn, ByteView outputs) {
  const CallAnswer answer = answer_of(fn, outputs);
  if (answer.number(api::DecodedReturn) != 0) return CL_SUCCESS;
  const auto errcode = static_cast<uint16_t>(api::fn_info(static_cast<uint16_t>(fn)).param_count - 1);
  const auto code = static_cast<cl_int>(answer.number(errcode, static_cast<uint64_t>(CL_OUT_OF_RESOURCES)));
  return code < 0 ? code : CL_OUT_OF_RESOURCES;
}

InfoAnswer info_of(api::FnId fn, ByteView outputs) {
  const CallAnswer answer = answer_of(fn, outputs);
  InfoAnswer info{answer.code, {}};
  for (const api::DecodedArg& a : answer.outputs) {
    if (a.tag == api::Tag::Bytes) info.value.assign(a.data.begin(), a.data.end());
  }
  return info;
}

}  // namespace gt::virt
