// The decoder: one interpreter over the layouts that the table gives.
#include "traces/api/decode.h"

#include <array>
#include <bit>

#include "traces/api/properties.h"

namespace gt::api {
namespace {

uint32_t find_outputs(const FnInfo& fn) {
  uint32_t bits = 0;
  for (uint16_t i = 0; i < fn.param_count; ++i) bits |= uint32_t{fn.params[i].out != Wire::None} << i;
  return bits;
}

// Bit i: parameter i has an output. Few have.
uint32_t outputs_of(uint16_t number, const FnInfo& fn) {
  static const std::array<uint32_t, FnCount> table = [] {
    std::array<uint32_t, FnCount> bits{};
    for (uint16_t i = 0; i < FnCount; ++i) bits[i] = find_outputs(fn_info(i));
    return bits;
  }();
  return number < FnCount ? table[number] : find_outputs(fn);
}

class Decoder {
 public:
  Decoder(ByteView in, DecodeContext& context, std::vector<DecodedArg>& out)
      : in_(in), context_(context), out_(out) {}

  bool inputs(const FnInfo& fn) {
    for (uint16_t i = 0; i < fn.param_count && in_.ok(); ++i)
      argument(fn.params[i].in, fn.params[i], i, false);
    return done();
  }
  bool outputs(uint16_t number, const FnInfo& fn) {
    argument(fn.result.out, fn.result, DecodedReturn, true);
    for (uint32_t left = outputs_of(number, fn); left != 0 && in_.ok(); left &= left - 1) {
      const auto i = static_cast<uint16_t>(std::countr_zero(left));
      argument(fn.params[i].out, fn.params[i], i, true);
    }
    return done();
  }

 private:
  bool done() const { return in_.ok() && in_.at_end(); }

  [[gnu::always_inline]] DecodedArg& add(Tag tag, uint64_t value = 0) {  // most of what a call costs
    out_.push_back({param_, tag, ObjectKind::Unknown, Effect::None, value, 0, {}});
    return out_.back();
  }
  void null() {
    if (!output_ || param_ == DecodedReturn) add(Tag::Null);
  }
  void object(Tag tag, uint64_t value, ObjectKind kind, Effect effect) {
    if (!in_.ok()) return;
    if (value == 0) {
      add(Tag::Null);
      return;
    }
    DecodedArg& arg = add(tag, value);
    arg.kind = kind;
    arg.effect = effect;
  }
  static Tag object_tag(ObjectKind kind) {
    return kind < ObjectKind::Segment ? Tag::Handle : Tag::HostPointer;
  }

  ByteView string_bytes(uint64_t length) {
    if (!(length & External)) return in_.bytes(length);
    if (!context_.external || context_.next_external >= context_.external->size()) {
      in_.fail();
      return {};
    }
    return (*context_.external)[context_.next_external++];
  }
  void string() {
    const uint64_t length = in_.word();
    if (!in_.ok()) return;
    if (length == NullWord) return null();
    if (length == UnreadableWord) return address(Tag::Raw);
    const ByteView data = string_bytes(length);
    if (!in_.ok()) return;
    DecodedArg& arg = add(Tag::Bytes);
    arg.data = data;
    arg.length = length & ~External;
  }
  void host_data(const ParamInfo& info) {
    const uint64_t address = in_.word();
    const uint64_t length = in_.word();
    const ByteView data = length & NoContents ? ByteView{} : string_bytes(length);
    if (!in_.ok()) return;
    if (address == 0) return null();
    DecodedArg& arg = add(Tag::HostPointer, address);
    arg.kind = info.kind;
    arg.effect = info.effect;
    arg.length = length & ~(External | NoContents);
    arg.data = data;
  }

  // Counts never exceed the words that are left, so a damaged count costs nothing.
  template <class Element>
  void array(Element element) {
    const uint64_t n = in_.count();
    if (!in_.ok()) return;
    if (n == NullWord) return null();
    if (n == UnreadableWord) return address(Tag::Raw);
    if (n == 0) add(Tag::Empty);
    for (uint64_t i = 0; i < n && in_.ok(); ++i) element(i, n);
  }
  void numbers() {
    array([this](uint64_t, uint64_t) { add(Tag::Int, in_.word()); });
  }
  void structure(const ParamInfo& info) {
    array([&](uint64_t i, uint64_t n) {
      const bool last = i + 1 == n && info.kind != ObjectKind::Unknown;
      if (last)
        object(object_tag(info.kind), in_.word(), info.kind, info.effect);
      else
        add(Tag::Int, in_.word());
    });
  }
  void properties() {
    PropertyWalk walk;
    array([&](uint64_t, uint64_t) { property(walk, in_.word()); });
  }
  void property(PropertyWalk& walk, uint64_t word) {
    if (walk.is_object(word))
      object(object_tag(walk.kind()), word, walk.kind(), Effect::Use);
    else
      add(Tag::Int, word);
  }
  // The bytes of a query's answer, as words: handles, or a property list with its final 0.
  void info(const ParamInfo& info) {
    const uint64_t tag = in_.word();
    if (!in_.ok()) return;
    if (tag == InfoNull) return null();
    if (tag == InfoUnreadable) return address(Tag::Raw);
    const uint64_t length = in_.word();
    const ByteView data = string_bytes(length);
    if (!in_.ok()) return;
    if (tag == InfoOpaque) {
      add(Tag::Empty);
    } else if (tag == InfoBytes || data.size() % 8 != 0) {
      DecodedArg& arg = add(Tag::Bytes);
      arg.data = data;
      arg.length = data.size();
    } else if (tag == InfoList ||
               (tag >= InfoHandles &&
                tag <= InfoHandles + static_cast<uint64_t>(LastObjectKind))) {
      if (data.empty()) add(Tag::Empty);
      PropertyWalk walk;
      for (size_t i = 0; i < data.size(); i += 8) {
        uint64_t word = 0;
        std::memcpy(&word, data.data() + i, 8);
        const auto kind = static_cast<ObjectKind>(tag - InfoHandles);
        if (tag == InfoList)
          property(walk, word);
        else
          object(object_tag(kind), word, kind, info.effect);
      }
    } else {
      in_.fail();
    }
  }
  void argument(Wire wire, const ParamInfo& info, uint16_t param, bool output) {
    param_ = param;
    output_ = output;
    switch (wire) {
      case Wire::None:
        return;
      case Wire::Int:
        return word(Tag::Int);
      case Wire::Code:
        return address(Tag::Code);
      case Wire::Raw:
        return address(Tag::Raw);
      case Wire::Handle:
        return object(Tag::Handle, in_.word(), info.kind, info.effect);
      case Wire::Pointer:
        return object(Tag::HostPointer, in_.word(), info.kind, info.effect);
      case Wire::HostData:
        return host_data(info);
      case Wire::Bytes:
        return string();
      case Wire::Ints:
        return numbers();
      case Wire::Handles:
      case Wire::Pointers:
        return array([&](uint64_t, uint64_t) {
          object(object_tag(info.kind), in_.word(), info.kind, info.effect);
        });
      case Wire::Strings:
        return array([this](uint64_t, uint64_t) { string(); });
      case Wire::Present:
        return present();
      case Wire::Properties:
        return properties();
      case Wire::Info:
        return this->info(info);
      case Wire::Struct:
        return structure(info);
    }
  }
  void word(Tag tag) {
    const uint64_t value = in_.word();
    if (in_.ok()) add(tag, value);
  }
  void address(Tag tag) {
    const uint64_t value = in_.word();
    if (in_.ok()) add(value ? tag : Tag::Null, value);
  }
  void present() {
    const uint64_t value = in_.word();
    if (value > 1) in_.fail();
    if (in_.ok()) add(value ? Tag::Empty : Tag::Null);
  }

  WordReader in_;
  DecodeContext& context_;
  std::vector<DecodedArg>& out_;
  uint16_t param_ = 0;
  bool output_ = false;
};

}  // namespace

bool decode_inputs(FnId fn, ByteView in, DecodeContext& context, std::vector<DecodedArg>& out) {
  out.clear();
  const FnInfo& info = fn_info(static_cast<uint16_t>(fn));
  return info.params &&
         Decoder(in, context, out).inputs(info);
}

bool decode_outputs(FnId fn, ByteView in, DecodeContext& context, std::vector<DecodedArg>& out) {
  out.clear();
  const FnInfo& info = fn_info(static_cast<uint16_t>(fn));
  return info.params &&
         Decoder(in, context, out).outputs(static_cast<uint16_t>(fn), info);
}

}  // namespace gt::api
