#include "transport/link/hello/openssl.h"

#include <dlfcn.h>

#include <string>

namespace gt::wire {
namespace {

struct Loaded {
  OpenSsl functions;
  std::string missing;

  Loaded() {
    void* const ssl = ::dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL);
    void* const crypto = ::dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!ssl || !crypto) {
      missing = "libssl.so.3";
      return;
    }
    const auto find = [&](const char* name) {
      void* const p = ::dlsym(ssl, name);
      return p ? p : ::dlsym(crypto, name);
    };
#define GT_LOAD(result, name, parameters)                                                       \
  functions.name = reinterpret_cast<decltype(functions.name)>(find(#name));                     \
  if (!functions.name) missing = #name " of OpenSSL 3";
    GT_OPENSSL(GT_LOAD)
#undef GT_LOAD
    // Connections are used until the process ends, its exit handlers included. In vain where the program was first.
    constexpr uint64_t NoExitHandler = 0x00080000;
    if (missing.empty()) functions.OPENSSL_init_ssl(NoExitHandler, nullptr);
  }
};

}  // namespace

Result<const OpenSsl*> openssl() {
  static const Loaded& loaded = *new Loaded;  // connections outlive static destructors
  if (loaded.missing.empty()) return &loaded.functions;
  return Status(Kind::Unsupported, "tls:// needs OpenSSL 3, and " + loaded.missing +
                                       " is not there: install libssl3, or use tcp:// with a token");
}

}  // namespace gt::wire
