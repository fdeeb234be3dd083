// Timelines from strangers: any bytes are read to their end, or refused.
#include "traces/model/folded/timeline.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto reader = gt::model::TimelineReader::open({data, size});
  if (!reader) return 0;
  gt::model::EventTime time;
  for (uint64_t left = 100'000; left > 0 && reader->next(time); --left) reader->command();
  return 0;
}
