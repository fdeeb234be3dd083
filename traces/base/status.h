// Status and Result: how every fallible function of the project reports.
//
// The kind says what the caller does next; the text says what happened, where, and what to do. Who detects the
// error chooses its kind and writes its text; callers only pass it on (or add the place with `at`).
// Thread safety: values.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace gt {

enum class Kind : uint8_t {
  Ok,
  Invalid,       // the caller or user asked for something wrong: fix the request           (exit 2)
  Corrupt,       // the input is damaged or not ours: get another                           (exit 3)
  Unsupported,   // valid, but not by this version, machine or driver                       (exit 4)
  Busy,          // try again later                                                         (exit 4)
  Disconnected,  // the other side is gone: reconnect or fall back                          (exit 4)
  System,        // the operating system refused; `code` is errno                           (exit 4)
  OpenCl,        // the driver refused; `code` is the cl_int                                (exit 4)
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Kind kind, std::string text, int code = 0)
      : kind_(kind), code_(code), text_(std::move(text)) {}

  bool ok() const { return kind_ == Kind::Ok; }
  explicit operator bool() const { return ok(); }
  Kind kind() const { return kind_; }
  int code() const { return code_; }
  const std::string& text() const { return text_; }

  // The same error with the place in front: "trace.db: not a gtrace file".
  Status at(const std::string& place) const {
    return ok() ? *this : Status(kind_, place + ": " + text_, code_);
  }

 private:
  Kind kind_ = Kind::Ok;
  int code_ = 0;
  std::string text_;
};

// `what`: strerror(err), for a system call that failed.
Status system_error(const std::string& what, int err);

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}                // NOLINT: implicit on purpose
  Result(Status status) : state_(std::move(status)) {}         // NOLINT: implicit on purpose

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }
  // REQUIRES: ok().
  T& value() { return std::get<T>(state_); }
  const T& value() const { return std::get<T>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  Status status() const { return ok() ? Status() : std::get<Status>(state_); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace gt

// Returns from the enclosing function when `expr` (a Status) failed.
#define GT_TRY(expr)                             \
  do {                                           \
    if (::gt::Status gt_s = (expr); !gt_s.ok()) return gt_s; \
  } while (false)
