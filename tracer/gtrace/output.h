// Standard output, buffered; a reader that went away ends us quietly, a full disk does not.
// Thread safety: none.
#pragma once

#include <string>
#include <string_view>

namespace gt::tracer {

class Output {
 public:
  Output();  // to standard output; ignores SIGPIPE from here on
  ~Output() { flush(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= Limit) flush();
  }
  // Append here directly, then call full() once in a while.
  std::string& buffer() { return buffer_; }
  void check() {
    if (buffer_.size() >= Limit) flush();
  }

  // False when nobody reads any more: stop working.
  bool open() const { return error_ == 0; }
  // The exit status of the program: ok also when the reader closed the pipe; 4 after an error,
  // printed once.
  int finish();

 private:
  static constexpr size_t Limit = 1 << 16;
  void flush();

  std::string buffer_;
  int error_ = 0;
};

bool output_is_terminal();
size_t terminal_width();  // of standard output, or COLUMNS; 0 when neither tells

}  // namespace gt::tracer
