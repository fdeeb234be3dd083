// One kind of prepared call per OpenCL function that answers an error code, from the table.
#include "traces/api/prepared_call.h"

#include <type_traits>

#include "traces/api/rebuild.h"

namespace gt::api {

namespace {

template <FnId F>
class Prepared final : public PreparedCall {
 public:
  bool rebuild(ByteView inputs, void (*function)(), ObjectMap* objects) {
    context_.objects = objects;
    context_.placed = &placed_;
    Rebuilder<F> rebuilder(inputs, context_);
    const Invoked rebuilt = rebuilder.run();
    context_.objects = nullptr;
    args_ = rebuilder.arguments();
    call_ = reinterpret_cast<FnPointer<F>>(function);
    return rebuilt == Invoked::Done;
  }
  int32_t make() override { return std::apply(call_, args_); }
  void encode_outputs(int32_t answer, VectorWriter& outputs) const override {
    std::apply([&](auto... args) { api::encode_outputs<F, Contents::Full>(outputs, answer, args...); }, args_);
  }

 private:
  FnPointer<F> call_ = nullptr;
  Arguments<F> args_{};
};

using Maker = std::unique_ptr<PreparedCall> (*)(ByteView, void (*)(), ObjectMap*);

template <FnId F>
constexpr Maker maker() {
  if constexpr (std::is_same_v<typename Fn<F>::Result, cl_int>) {
    return [](ByteView inputs, void (*function)(), ObjectMap* objects) -> std::unique_ptr<PreparedCall> {
      auto call = std::make_unique<Prepared<F>>();
      if (!call->rebuild(inputs, function, objects)) return nullptr;
      return call;
    };
  } else {
    return nullptr;
  }
}

constexpr auto makers = [] {
  std::array<Maker, FnCount> table{};
#define GT_FN_ID(name, id) table[id] = maker<FnId::name>();
#include "traces/api/gen/fn_ids.inc"
#undef GT_FN_ID
  return table;
}();

}  // namespace

std::unique_ptr<PreparedCall> PreparedCall::prepare(FnId fn, ByteView inputs, void (*function)(), ObjectMap* objects) {
  const auto n = static_cast<uint16_t>(fn);
  return n < FnCount && makers[n] ? makers[n](inputs, function, objects) : nullptr;
}

void* PreparedCall::place(size_t at, size_t size) const {
  for (const PlacedBytes& p : placed_) {
    if (p.at == at && size <= p.size) return p.place;
  }
  return nullptr;
}

}  // namespace gt::api
