// libFuzzer: any bytes as trace.contents. Reading ends in an error, or in contents that are as long as they say.
//
// Seeds are files of our writer's. The checks of heads and of bodies that are lists are mended, so that inputs reach
// what lies behind; in fuzzing builds (GT_NO_CHECKSUMS) those of chunks are not compared, either.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/fuzz/seeds.h"
#include "traces/contents/content_reader.h"
#include "traces/contents/content_writer.h"

namespace {

using namespace gt;
using namespace gt::contents;

// A file in memory, for all inputs.
struct Scratch {
  std::string path = "/dev/shm/gt_contents_fuzz_XXXXXX";
  int fd = ::mkstemp(path.data());
  ~Scratch() { ::unlink(path.c_str()); }
};

void put(const Scratch& scratch, const Bytes& bytes) {
  if (::ftruncate(scratch.fd, 0) != 0) std::abort();
  if (::pwrite(scratch.fd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
}

Bytes mended(const uint8_t* data, size_t size) {
  Bytes bytes(data, data + size);
  if (size < sizeof(FileHeader)) return bytes;
  const FileHeader header = make_header({});
  std::memcpy(bytes.data(), &header, sizeof header);
  for (size_t at = sizeof header; size - at >= sizeof(RecordHead);) {
    RecordHead head;
    std::memcpy(&head, bytes.data() + at, sizeof head);
    const size_t left = size - at - sizeof head;
    if (head.body_bytes <= left && (head.kind == RecordKind::Content || head.kind == RecordKind::File))
      head.hash = hash_of({bytes.data() + at + sizeof head, head.body_bytes});
    head.check = check_of(head, at);
    std::memcpy(bytes.data() + at, &head, sizeof head);
    if (head.body_bytes > left) break;
    at += sizeof head + head.body_bytes;
  }
  return bytes;
}

}  // namespace

std::vector<Bytes> fuzz_seeds() {
  const Scratch scratch;
  ::unlink(scratch.path.c_str());
  Result<ContentWriter> writer = ContentWriter::open(scratch.path, {});
  if (!writer) std::abort();
  const std::string text(200, 'a');
  writer->add(0, 0, as_bytes("some bytes"));
  writer->add(0, 1, as_bytes(text));
  writer->add(1, 0, as_bytes(text));
  writer->add_file(1, 0, "/usr/include/a.h");
  writer->close();
  const Fd file(::open(scratch.path.c_str(), O_RDONLY));
  Bytes bytes(writer->file_bytes());
  if (::read(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
  return {bytes};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Scratch scratch;
  put(scratch, mended(data, size));
  const Result<ContentReader> reader = ContentReader::open(scratch.path);
  if (!reader) return 0;
  Bytes bytes;
  for (const auto& [process, number] : reader->numbers()) {
    const uint64_t stated = reader->size_of(process, number);
    if (reader->read(process, number, bytes, 1 << 20).ok() && bytes.size() != stated) std::abort();
  }
  (void)reader->check_all();
  return 0;
}
