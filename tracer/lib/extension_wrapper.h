// Our wrappers of extension functions: of each its name, its number, and how it is called.
//
// Thread safety: yes; a signature is made by whoever asks first.
#pragma once

#include <ffi.h>

#include <type_traits>

#include "traces/api/table.h"

namespace gt::tracer {

struct Signature {
  ffi_cif cif;
  ffi_type* args[32];
  bool ok = false;
};

template <class T>
ffi_type* ffi_type_of() {
  if constexpr (std::is_void_v<T>)
    return &ffi_type_void;
  else if constexpr (std::is_same_v<T, float>)
    return &ffi_type_float;
  else if constexpr (std::is_same_v<T, double>)
    return &ffi_type_double;
  else if constexpr (std::is_pointer_v<T>)
    return &ffi_type_pointer;
  else if constexpr (sizeof(T) == 8)
    return &ffi_type_uint64;
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? &ffi_type_sint32 : &ffi_type_uint32;
  else if constexpr (sizeof(T) == 2)
    return &ffi_type_uint16;
  else
    return &ffi_type_uint8;
}

// The call interface of a function type, made once.
template <class R, class... A>
const Signature& signature() {
  static_assert(sizeof...(A) <= 32);
  static Signature made;
  static const bool once = [] {  // the cif points into `made`, which must not move
    [[maybe_unused]] unsigned i = 0;
    ((made.args[i++] = ffi_type_of<A>()), ...);
    made.ok = ffi_prep_cif(&made.cif, FFI_DEFAULT_ABI, sizeof...(A), ffi_type_of<R>(), made.args) ==
              FFI_OK;
    return true;
  }();
  (void)once;
  return made;
}

struct ExtensionWrapper {
  const char* name;
  api::FnId fn;
  void* wrapper;
  const Signature& (*signature)();
};
// nullptr: one that we do not know.
const ExtensionWrapper* find_extension_wrapper(const char* name);

}  // namespace gt::tracer
