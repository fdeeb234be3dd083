#include "tracer/collect/kept_contents.h"

#include <fmt/format.h>

namespace gt::tracer {

Status KeptContents::keep_in(const std::string& path, uint64_t most_bytes) {
  const Result<contents::Key> key = contents::random_key();
  if (!key) return key.status();
  Result<contents::ContentWriter> file = contents::ContentWriter::open(path, *key);
  if (!file) return file.status();
  file_.emplace(std::move(*file));
  file_->limit(most_bytes);
  key_ = contents::key_text(*key);
  return {};
}

uint8_t& KeptContents::state_of(const TracedProcess& process, int64_t number) {
  if (process.index >= states_.size()) states_.resize(process.index + 1);
  std::vector<uint8_t>& states = states_[process.index];
  const auto at = static_cast<size_t>(number);
  if (at >= states.size()) states.resize(at + 1);
  return states[at];
}

bool KeptContents::take_piece(const TracedThread& thread, ByteView payload) {
  ByteReader in(payload);
  const uint64_t size = in.fixed64();
  const ByteView bytes = in.raw(size);
  if (!in.ok() || size == 0 || size > contents::ChunkBytes) return false;
  if (!file_) return true;
  Arriving& arriving = arriving_[thread];
  const uint32_t chunk = arriving.left_out ? contents::ContentWriter::LeftOut : file_->add_chunk(bytes);
  if (chunk == contents::ContentWriter::LeftOut) {
    arriving.left_out = true;
  } else {
    arriving.chunks.push_back(chunk);
  }
  arriving.bytes += size;
  return true;
}

bool KeptContents::take(const TracedThread& thread, int64_t number, uint64_t bytes) {
  if (!file_) return false;
  Arriving& arriving = arriving_[thread];
  uint8_t& state = state_of(*thread.process, number);
  if (state == New) {
    const bool whole = arriving.bytes == bytes;
    const contents::ContentRow row{thread.process->index, number, bytes};
    const bool stored = whole && !arriving.left_out && file_->add_content(row, arriving.chunks);
    if (stored || whole) state = stored ? Stored : LeftOut;
    missing_ += !whole;
    if (state == LeftOut) {
      ++left_out_;
      left_out_bytes_ += bytes;
    }
  }
  arriving.chunks.clear();
  arriving.bytes = 0;
  arriving.left_out = false;
  return state == Stored;
}

void KeptContents::add_file(const TracedProcess& process, const std::string& path, std::string_view text) {
  if (!file_ || !files_.emplace(process.index, path, contents::hash_of(as_bytes(text))).second) return;
  const int64_t number = contents::FirstFileNumber + static_cast<int64_t>(files_.size()) - 1;
  if (file_->add(process.index, number, as_bytes(text)) && file_->add_file(process.index, number, path)) return;
  ++left_out_;
  left_out_bytes_ += text.size();
}

void KeptContents::add_facts(std::vector<std::pair<std::string, std::string>>& facts) const {
  if (!file_) return;
  const auto fact = [&](const char* name, uint64_t value) { facts.emplace_back(name, fmt::format("{}", value)); };
  facts.emplace_back("contents.key", key_);
  fact("contents.stored", file_->contents());
  fact("contents.bytes", file_->content_bytes());
  fact("contents.file_bytes", file_->file_bytes());
  if (!file_->trouble().ok()) facts.emplace_back("contents.trouble", file_->trouble().text());
  fact("lost.contents_left_out", left_out_);
  fact("lost.bytes_of_contents_left_out", left_out_bytes_);
  fact("lost.contents_missing", missing_);
}

}  // namespace gt::tracer
