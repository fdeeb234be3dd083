// Random calls, from the table.
#include "tests/fake_cl/sample_call.h"

#include "tests/fake_cl/fake_functions.h"
#include "tests/fake_cl/random_call.h"
#include "traces/api/encode.h"

namespace gt::fake {
namespace {

using namespace gt::api;  // NOLINT: this file is about the table

bool agree(const Bytes& whole, size_t measured, const Bytes& spanned, const uint8_t* end) {
  return measured == whole.size() && end == spanned.data() + whole.size() &&
         std::equal(whole.begin(), whole.end(), spanned.begin());
}

template <FnId F>
void sample(SampleCall& out, uint64_t seed) {
  const RandomCall<F> random(seed);
  std::apply(
      [&](const auto&... a) {
        VectorWriter inputs, recorded, outputs;
        encode_inputs<F, Contents::Full>(inputs, a...);
        encode_inputs<F>(recorded, a...);
        SizeWriter size;
        encode_inputs<F>(size, a...);
        Bytes spanned(recorded.view().size() + 8, 0xee);
        SpanWriter span(spanned.data());
        encode_inputs<F>(span, a...);
        out.writers_agree = agree(recorded.view(), size.size(), spanned, span.end());

        const auto f = reinterpret_cast<FnPointer<F>>(function(F));
        if constexpr (std::is_void_v<typename Fn<F>::Result>) {
          f(a...);
          encode_outputs<F, Contents::Full>(outputs, nullptr, a...);
        } else {
          const auto result = f(a...);
          encode_outputs<F, Contents::Full>(outputs, result, a...);
        }
        out.inputs = inputs.view();
        out.recorded = recorded.view();
        out.outputs = outputs.view();
      },
      random.args());
}

ImageElements four_bytes(cl_mem) { return {4}; }

}  // namespace

SampleCall sample_call(FnId fn, uint64_t seed, bool succeed) {
  image_elements = four_bytes;
  set_seed(seed, succeed);
  SampleCall out;
  out.fn = fn;
  switch (fn) {
#define GT_FN_ID(name, id)         \
  case FnId::name:                 \
    sample<FnId::name>(out, seed); \
    break;
#include "traces/api/gen/fn_ids.inc"
#undef GT_FN_ID
    default:
      break;
  }
  out.log = take_log();
  return out;
}

}  // namespace gt::fake
