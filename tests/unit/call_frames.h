// What a client sends to an executor, without the virtual platform's code: messages as frames, and calls as messages.
// Thread safety: no state.
#pragma once

#include <tuple>
#include <utility>

#include "traces/api/encode.h"
#include "transport/protocol/codec.h"
#include "transport/protocol/messages.h"

namespace gt::testing {

// Names in the place of handles, for encoding.
template <class Handle>
Handle named(wire::ObjectId id) { return reinterpret_cast<Handle>(id); }

template <class Message>
Bytes framed(const Message& message) {
  Bytes frame;
  wire::encode(message, frame);
  return frame;
}

// What a call is to be known by; 0: nothing.
struct CallNames {
  wire::ReplyId reply = 0;
  wire::ObjectId result = 0, event = 0;
};

// The arguments as in C, with named() handles.
template <api::FnId F, class... A>
Bytes call_frame(const CallNames& names, A... args) {
  api::VectorWriter inputs;
  [&]<size_t... I>(std::index_sequence<I...>, const auto& all) {
    api::encode_inputs<F, api::Contents::Full>(inputs, static_cast<api::ParamType<F, I>>(std::get<I>(all))...);
  }(std::index_sequence_for<A...>{}, std::tuple<A...>(args...));
  wire::Call m;
  m.fn = static_cast<uint16_t>(F);
  m.reply = names.reply;
  m.result = names.result;
  m.event = names.event;
  m.inputs = inputs.view();
  return framed(m);
}

}  // namespace gt::testing
