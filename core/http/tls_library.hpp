// SPDX-License-Identifier: Apache-2.0
// The functions of libssl and libcrypto that we call. The libraries are loaded when they are first needed, without the
// system's openssl.cnf. For the files tls*.cpp of this folder only. [any thread]
#pragma once

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace koord::http {

// Everything that is called of libssl and libcrypto.
#define KOORD_TLS_FUNCTIONS(each)                                                                                      \
  each(OPENSSL_init_ssl) each(TLS_client_method) each(SSL_CTX_new) each(SSL_CTX_free) each(SSL_CTX_ctrl) each(         \
      SSL_CTX_set_verify) each(SSL_CTX_get_cert_store) each(SSL_CTX_set_default_verify_paths)                          \
      each(SSL_CTX_use_certificate) each(SSL_CTX_use_PrivateKey) each(SSL_CTX_check_private_key) each(                 \
          X509_STORE_add_cert) each(X509_free) each(EVP_PKEY_free) each(PEM_read_bio_X509)                             \
          each(PEM_read_bio_PrivateKey) each(BIO_new_mem_buf) each(BIO_free) each(SSL_new) each(SSL_free) each(        \
              SSL_ctrl) each(SSL_set1_host) each(SSL_get0_param) each(SSL_set_bio) each(SSL_set_connect_state)         \
              each(SSL_do_handshake) each(SSL_read) each(SSL_write) each(SSL_get_error) each(SSL_get_verify_result)    \
                  each(X509_VERIFY_PARAM_set1_ip_asc) each(X509_verify_cert_error_string) each(BIO_new) each(          \
                      BIO_s_mem) each(BIO_ctrl_pending) each(BIO_read) each(BIO_write) each(ERR_get_error)             \
                      each(ERR_peek_last_error) each(ERR_clear_error) each(ERR_reason_error_string) each(              \
                          TLS_server_method) each(SSL_CTX_set_options) each(SSL_CTX_set_num_tickets)                   \
                          each(SSL_CTX_set_cipher_list) each(SSL_CTX_set_alpn_select_cb) each(                         \
                              SSL_CTX_set_cert_verify_callback) each(SSL_CTX_add_client_CA) each(SSL_set_accept_state) \
                              each(SSL_shutdown) each(SSL_get_version) each(SSL_get1_peer_certificate)                 \
                                  each(SSL_get_peer_cert_chain) each(X509_STORE_new) each(X509_STORE_free)             \
                                      each(X509_STORE_CTX_new) each(X509_STORE_CTX_init) each(X509_STORE_CTX_free)     \
                                          each(X509_STORE_CTX_set_default) each(X509_STORE_CTX_get_error)              \
                                              each(X509_verify_cert) each(X509_get_subject_name)                       \
                                                  each(X509_NAME_get_index_by_NID) each(X509_NAME_get_entry)           \
                                                      each(X509_NAME_ENTRY_get_data) each(ASN1_STRING_to_UTF8)         \
                                                          each(CRYPTO_free) each(X509_check_host)                      \
                                                              each(SSL_CTX_get0_certificate) each(X509_get_ext_d2i)    \
                                                                  each(GENERAL_NAMES_free) each(OPENSSL_sk_num)        \
                                                                      each(OPENSSL_sk_value)

struct TlsLibrary {
#define KOORD_MEMBER(name) decltype(&::name) name;
  KOORD_TLS_FUNCTIONS(KOORD_MEMBER)
#undef KOORD_MEMBER
};

const Result<TlsLibrary>& tls_library();

// Why the last call failed; forgets it.
std::string tls_reason(const TlsLibrary& tls);

using TlsContext = std::unique_ptr<SSL_CTX, decltype(&::SSL_CTX_free)>;
using TlsCertificate = std::unique_ptr<X509, decltype(&::X509_free)>;

// PEM text, and what to call it in an error.
struct PemText {
  std::string name, text;
};

// `text` if there is one, else what stands in `file`.
Result<PemText> pem_of(const std::string& text, const std::string& file, const char* what);

// All certificates in the text. Fails without one, or if something between them cannot be read.
Result<std::vector<TlsCertificate>> read_authorities(const TlsLibrary& tls, const PemText& pem);

// Gives the context our certificate, the first one, with those that lead to its authority; and its key.
Result<void> present(const TlsLibrary& tls, SSL_CTX* context, const PemText& chain);
Result<void> use_key(const TlsLibrary& tls, SSL_CTX* context, const PemText& pem);

}  // namespace koord::http
