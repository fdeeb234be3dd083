// --capture full: what came of contents goes into trace.contents, while the program runs.
//
//   ContentPiece records ──► chunks in the file ──► their numbers, until the Content record says whose they are
//
// Invariant: a content whose number is in the file is there whole. What does not come whole, or finds no room, is
// counted.
// Memory: a byte for each content, and the numbers of the chunks of those that are coming.
// Thread safety: none. A forked copy only reads it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tracer/collect/traced_thread.h"
#include "traces/contents/content_writer.h"

namespace gt::tracer {

class KeptContents {
 public:
  // From now on, in a new file. `most_bytes`: of it; 0: no limit.
  Status keep_in(const std::string& path, uint64_t most_bytes);
  bool kept() const { return file_.has_value(); }

  bool take_piece(const TracedThread& thread, ByteView payload);  // false: it makes no sense
  // The pieces so far were all of the content with this number, which has so many bytes. None came: it came before.
  // False: its bytes are not in the file.
  bool take(const TracedThread& thread, int64_t number, uint64_t bytes);
  // A file that the process has used: once for each path and text, with a number that no content of a call has.
  void add_file(const TracedProcess& process, const std::string& path, std::string_view text);

  void commit() {
    if (file_) file_->commit();
  }
  void close() {
    if (file_) file_->close();
  }
  uint64_t file_bytes() const { return file_ ? file_->file_bytes() : 0; }
  void add_facts(std::vector<std::pair<std::string, std::string>>& facts) const;

 private:
  struct Arriving {
    std::vector<uint32_t> chunks;
    uint64_t bytes = 0;
    bool left_out = false;  // a chunk of it found no room
  };
  // What is known of a number.
  enum : uint8_t { New, Stored, LeftOut };
  uint8_t& state_of(const TracedProcess& process, int64_t number);

  std::optional<contents::ContentWriter> file_;
  std::string key_;
  PerThread<Arriving> arriving_;
  std::vector<std::vector<uint8_t>> states_;  // by process, then number
  std::set<std::tuple<uint32_t, std::string, contents::Hash>> files_;
  uint64_t left_out_ = 0, left_out_bytes_ = 0, missing_ = 0;
};

}  // namespace gt::tracer
