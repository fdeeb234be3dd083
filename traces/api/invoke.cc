// One calling function per OpenCL function, from the table.
#include "traces/api/invoke.h"

#include "traces/api/rebuild.h"

namespace gt::api {

namespace {

template <FnId F>
Invoked invoke_as(ByteView inputs, void (*function)(), InvokeContext& context,
                  VectorWriter& outputs) {
  Rebuilder<F> rebuilt(inputs, context);
  if (const Invoked result = rebuilt.run(); result != Invoked::Done) return result;
  const auto call = reinterpret_cast<FnPointer<F>>(function);
  std::apply(
      [&](auto... args) {
        if constexpr (std::is_void_v<typename Fn<F>::Result>) {
          call(args...);
          encode_outputs<F, Contents::Full>(outputs, nullptr, args...);
        } else {
          const auto result = call(args...);
          encode_outputs<F, Contents::Full>(outputs, result, args...);
        }
      },
      rebuilt.arguments());
  return Invoked::Done;
}

using Invoker = Invoked (*)(ByteView, void (*)(), InvokeContext&, VectorWriter&);
constexpr auto invokers = [] {
  std::array<Invoker, FnCount> table{};
#define GT_FN_ID(name, id) table[id] = &invoke_as<FnId::name>;
#include "traces/api/gen/fn_ids.inc"
#undef GT_FN_ID
  return table;
}();

}  // namespace

Invoked invoke(FnId fn, ByteView inputs, void (*function)(), InvokeContext& context,
               VectorWriter& outputs) {
  const auto n = static_cast<uint16_t>(fn);
  if (n >= FnCount || !invokers[n]) return Invoked::Damaged;
  return invokers[n](inputs, function, context, outputs);
}

}  // namespace gt::api
