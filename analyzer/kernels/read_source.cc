// The exported function of libgtrace-kernels.so.
#include "analyzer/kernels/read_source.h"

#include <string_view>

#include "analyzer/kernels/parse_source.h"
#include "analyzer/kernels/source_bytes.h"

void gt_read_source(const char* source, size_t source_size, const char* options, size_t options_size,
                    void (*answer)(void* to, const uint8_t* bytes, size_t size), void* to) noexcept {
  const gt::Bytes bytes = gt::kernels::encode(
      gt::kernels::parse_source(std::string_view(source, source_size), std::string_view(options, options_size)));
  answer(to, bytes.data(), bytes.size());
}
