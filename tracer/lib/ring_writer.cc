#include "tracer/lib/ring_writer.h"

namespace gt::tracer {

void record_chunks(const void* data, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  for (size_t at = 0; at < size; at += ChunkBytes) {
    const size_t part = size - at < ChunkBytes ? size - at : ChunkBytes;
    record_text(RecordType::Chunk, at + part == size, part,
                reinterpret_cast<const char*>(bytes + at), part);
  }
}

}  // namespace gt::tracer
