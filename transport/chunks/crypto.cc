#include "transport/chunks/crypto.h"

#include <dlfcn.h>

namespace gt::chunks {

Crypto::Crypto() {
  void* const library = ::dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    missing = "libcrypto.so.3";
    return;
  }
#define GT_LOAD(result, name, parameters)                           \
  name = reinterpret_cast<decltype(name)>(::dlsym(library, #name)); \
  if (!name) missing = #name " of OpenSSL 3";
  GT_CRYPTO(GT_LOAD)
#undef GT_LOAD
  constexpr uint64_t NoExitHandler = 0x00080000;  // names are made until the process ends
  if (missing.empty()) OPENSSL_init_crypto(NoExitHandler, nullptr);
}

const Crypto& crypto() {
  static const Crypto& loaded = *new Crypto;
  return loaded;
}

Status crypto_available() {
  if (crypto().missing.empty()) return {};
  return {Kind::Unsupported, "names of data need OpenSSL 3, and " + crypto().missing + " is not there"};
}

}  // namespace gt::chunks
