// The functions of OpenSSL 3 that TLS needs, from the system's libssl.so.3 and libcrypto.so.3, loaded when first asked
// for. Thread safety: openssl() from any thread.
#pragma once

#include <cstdint>

#include "traces/base/status.h"

namespace gt::wire {

//   result, name, parameters
#define GT_OPENSSL(F)                                                       \
  F(int, OPENSSL_init_ssl, (uint64_t, const void*))                         \
  F(void*, TLS_client_method, ())                                           \
  F(void*, TLS_server_method, ())                                           \
  F(void*, SSL_CTX_new, (void*))                                            \
  F(void, SSL_CTX_free, (void*))                                            \
  F(long, SSL_CTX_ctrl, (void*, int, long, void*))                          \
  F(int, SSL_CTX_use_certificate_chain_file, (void*, const char*))          \
  F(int, SSL_CTX_use_PrivateKey_file, (void*, const char*, int))            \
  F(int, SSL_CTX_check_private_key, (const void*))                          \
  F(int, SSL_CTX_load_verify_locations, (void*, const char*, const char*))  \
  F(void, SSL_CTX_set_verify, (void*, int, void*))                          \
  F(int, SSL_CTX_set_num_tickets, (void*, size_t))                          \
  F(void*, SSL_new, (void*))                                                \
  F(void, SSL_free, (void*))                                                \
  F(void, SSL_set_bio, (void*, void*, void*))                               \
  F(int, SSL_set1_host, (void*, const char*))                               \
  F(void*, SSL_get0_param, (void*))                                         \
  F(int, X509_VERIFY_PARAM_set1_ip_asc, (void*, const char*))               \
  F(int, SSL_connect, (void*))                                              \
  F(int, SSL_accept, (void*))                                               \
  F(int, SSL_read, (void*, void*, int))                                     \
  F(int, SSL_write, (void*, const void*, int))                              \
  F(int, SSL_get_error, (const void*, int))                                 \
  F(long, SSL_get_verify_result, (const void*))                             \
  F(const char*, X509_verify_cert_error_string, (long))                     \
  F(unsigned long, ERR_get_error, ())                                       \
  F(void, ERR_clear_error, ())                                              \
  F(void, ERR_error_string_n, (unsigned long, char*, size_t))               \
  F(void*, BIO_meth_new, (int, const char*))                                \
  F(int, BIO_meth_set_write, (void*, int (*)(void*, const char*, int)))     \
  F(int, BIO_meth_set_read, (void*, int (*)(void*, char*, int)))            \
  F(int, BIO_meth_set_ctrl, (void*, long (*)(void*, int, long, void*)))     \
  F(void*, BIO_new, (const void*))                                          \
  F(void, BIO_set_data, (void*, void*))                                     \
  F(void*, BIO_get_data, (void*))                                           \
  F(void, BIO_set_init, (void*, int))                                       \
  F(void, BIO_set_flags, (void*, int))                                      \
  F(void, BIO_clear_flags, (void*, int))

struct OpenSsl {
#define GT_FIELD(result, name, parameters) result(*name) parameters = nullptr;
  GT_OPENSSL(GT_FIELD)
#undef GT_FIELD
};

// Errors are Unsupported: it is not installed.
Result<const OpenSsl*> openssl();

}  // namespace gt::wire
