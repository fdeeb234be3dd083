// Prints what a trace.contents holds, a line each: "PROCESS NUMBER HASH BYTES" with the hash of programs/contents.c,
// "file PROCESS NUMBER PATH". What is wrong with it goes to standard error.
//
// Usage: read_contents FILE [KEY]
#include <cstdio>

#include "traces/base/command.h"
#include "traces/contents/content_reader.h"

namespace {

uint64_t fnv(gt::ByteView bytes) {
  uint64_t h = 0xcbf29ce484222325u;
  for (const uint8_t b : bytes) h = (h ^ b) * 0x100000001b3u;
  return h;
}

int told(const gt::Status& status) {
  std::fprintf(stderr, "%s\n", status.text().c_str());
  return gt::exit_status(status);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return gt::ExitUsage;
  const auto reader = gt::contents::ContentReader::open(argv[1], argc > 2 ? argv[2] : "");
  if (!reader) return told(reader.status());
  gt::Bytes bytes;
  for (const auto& [process, number] : reader->numbers()) {
    if (const gt::Status s = reader->read(process, number, bytes); !s.ok()) return told(s);
    std::printf("%u %lld %016llx %zu\n", process, static_cast<long long>(number),
                static_cast<unsigned long long>(fnv(bytes)), bytes.size());
  }
  for (const auto& file : reader->files())
    std::printf("file %u %lld %s\n", file.process, static_cast<long long>(file.number), file.path.c_str());
  return reader->trouble().ok() ? 0 : told(reader->trouble());
}
