// Names of object kinds, statistics, facts.
#include "traces/model/fold/event.h"

#include <algorithm>
#include <bit>

namespace gt::model {
namespace {

struct KindName {
  const char* letter;
  const char* name;
};
constexpr KindName KindNames[] = {
    {"p", "platform"},
    {"d", "device"},
    {"c", "context"},
    {"q", "queue"},
    {"b", "buffer"},
    {"i", "image"},
    {"pi", "pipe"},
    {"sa", "sampler"},
    {"pr", "program"},
    {"k", "kernel"},
    {"e", "event"},
    {"se", "semaphore"},
    {"cb", "command buffer"},
    {"mc", "mutable command"},
    {"h", "handle"},
    {"s", "segment"},
    {"v", "svm"},
    {"m", "mapping"},
    {"st", "static data"},
    {"sk", "stack"},
    {"f", "file mapping"},
    {"u", "unknown memory"},
    {"fn", "callback"},
    {"str", "string"},
};
constexpr size_t KindCount = static_cast<size_t>(api::LastObjectKind) + 1;
static_assert(std::size(KindNames) == KindCount, "every kind of object has a letter and a name");

const KindName& kind_name(ObjectKind kind) {
  return KindNames[std::min(static_cast<size_t>(kind), KindCount - 1)];
}

}  // namespace

const char* object_kind_letter(ObjectKind kind) { return kind_name(kind).letter; }
const char* object_kind_name(ObjectKind kind) { return kind_name(kind).name; }

void Stats::add(uint64_t v, uint64_t times) {
  min = count == 0 ? v : std::min(min, v);
  max = std::max(max, v);
  count += times;
  sum += v * times;
  histogram[std::min<size_t>(static_cast<size_t>(std::bit_width(v)), histogram.size() - 1)] +=
      static_cast<uint32_t>(times);
}

void Stats::merge(const Stats& other) {
  if (other.count == 0) return;
  min = count == 0 ? other.min : std::min(min, other.min);
  max = std::max(max, other.max);
  count += other.count;
  sum += other.sum;
  for (size_t i = 0; i < histogram.size(); ++i) histogram[i] += other.histogram[i];
}

std::string_view Trace::fact(std::string_view name) const {
  for (const auto& [key, text] : facts) {
    if (key == name) return text;
  }
  return {};
}

std::string_view Trace::label(ClassId cls) const {
  const BlobId label = cls < classes.size() ? classes[cls].label : NoIndex;
  return label < blobs.size() ? as_text(blobs[label].bytes) : std::string_view();
}

}  // namespace gt::model
