// Answers clGet*Info queries: the size, the value, CL_INVALID_VALUE when there is no room for it.
// Thread safety: none; on the stack of one call, whose pointers, the program's, it writes through.
#pragma once

#include <CL/cl.h>

#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

#include "traces/base/bytes.h"

namespace gt::virt {

class Answer {
 public:
  Answer(size_t room, void* value, size_t* size_ret) : room_(room), value_(value), size_ret_(size_ret) {}

  cl_int bytes(const void* p, size_t n) const {
    if (value_ && room_ < n) return CL_INVALID_VALUE;
    if (size_ret_) *size_ret_ = n;
    if (value_ && n) std::memcpy(value_, p, n);
    return CL_SUCCESS;
  }
  cl_int bytes(ByteView v) const { return bytes(v.data(), v.size()); }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  cl_int value(T v) const {
    return bytes(&v, sizeof v);
  }
  cl_int text(std::string_view v) const {  // with its NUL
    if (value_ && room_ <= v.size()) return CL_INVALID_VALUE;
    if (size_ret_) *size_ret_ = v.size() + 1;
    if (value_) {
      std::memcpy(value_, v.data(), v.size());
      static_cast<char*>(value_)[v.size()] = '\0';
    }
    return CL_SUCCESS;
  }
  template <class T>
  cl_int list(const std::vector<T>& v) const {
    return bytes(v.data(), v.size() * sizeof(T));
  }

  size_t room() const { return room_; }
  void* sub_context() const { return value_; }

 private:
  size_t room_;
  void* value_;
  size_t* size_ret_;
};

}  // namespace gt::virt
