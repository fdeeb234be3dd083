// Standard output, or a file, buffered; a reader that went away ends us quietly, a full disk does not.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "traces/base/status.h"

namespace gt::tracer {

class Output {
 public:
  Output();  // to standard output; ignores SIGPIPE from here on
  // To a file, made anew. System: it cannot be written.
  static Result<std::unique_ptr<Output>> to_file(const std::string& path);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= Limit) flush();
  }
  // Append here directly, then call full() once in a while.
  std::string& buffer() { return buffer_; }
  void send() { flush(); }  // what is there goes now: for who reads while we go on
  void check() {
    if (buffer_.size() >= Limit) flush();
  }

  // What makes the output whole ("]"): it stands behind whatever a file holds, so that the file is whole at any moment,
  // also after our own sudden death. REQUIRES: text is written in whole elements.
  void set_tail(std::string tail) { tail_ = std::move(tail); }
  uint64_t bytes() const { return written_ + buffer_.size(); }

  // False when nobody reads any more: stop working.
  bool open() const { return error_ == 0; }
  // The exit status of the program: ok also when the reader closed the pipe; 4 after an error,
  // printed once.
  int finish();

 private:
  static constexpr size_t Limit = 1 << 16;
  void flush();
  void write_all(std::string_view text);

  int file_;
  bool seekable_ = false;  // a file of ours: the tail is written behind each flush, and over by the next
  std::string name_, buffer_, tail_;
  uint64_t written_ = 0;
  int error_ = 0;
};

bool output_is_terminal();
size_t terminal_width();  // of standard output, or COLUMNS; 0 when neither tells

}  // namespace gt::tracer
