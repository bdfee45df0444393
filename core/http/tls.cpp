// SPDX-License-Identifier: Apache-2.0
#include "core/http/tls.hpp"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <openssl/err.h>
#include <openssl/opensslv.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <climits>
#include <vector>

#include "core/base/file.hpp"

namespace koord::http {
namespace {

constexpr std::size_t kMaxPemBytes = 4 << 20;

// Everything that is called of libssl and libcrypto.
#define KOORD_TLS_FUNCTIONS(each)                                                                                  \
  each(OPENSSL_init_ssl) each(TLS_client_method) each(SSL_CTX_new) each(SSL_CTX_free) each(SSL_CTX_ctrl)           \
      each(SSL_CTX_set_verify) each(SSL_CTX_get_cert_store) each(SSL_CTX_set_default_verify_paths)                 \
          each(SSL_CTX_use_certificate) each(SSL_CTX_use_PrivateKey) each(SSL_CTX_check_private_key)               \
              each(X509_STORE_add_cert) each(X509_free) each(EVP_PKEY_free) each(PEM_read_bio_X509)                \
                  each(PEM_read_bio_PrivateKey) each(BIO_new_mem_buf) each(BIO_free) each(SSL_new) each(SSL_free)  \
                      each(SSL_ctrl) each(SSL_set1_host) each(SSL_get0_param) each(SSL_set_bio)                    \
                          each(SSL_set_connect_state) each(SSL_do_handshake) each(SSL_read) each(SSL_write)        \
                              each(SSL_get_error) each(SSL_get_verify_result) each(X509_VERIFY_PARAM_set1_ip_asc)  \
                                  each(X509_verify_cert_error_string) each(BIO_new) each(BIO_s_mem) each(BIO_read) \
                                      each(BIO_write) each(ERR_get_error) each(ERR_peek_last_error)                \
                                          each(ERR_clear_error) each(ERR_reason_error_string)

struct Library {
#define KOORD_MEMBER(name) decltype(&::name) name;
  KOORD_TLS_FUNCTIONS(KOORD_MEMBER)
#undef KOORD_MEMBER
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

// libssl brings libcrypto along, and dlsym() looks there, too.
Result<Library> load() {
  const std::string name = "libssl.so." + std::to_string(OPENSSL_SHLIB_VERSION);
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return invalid("cannot load libssl: " + std::string(::dlerror()));
  Library all{};
#define KOORD_FIND(name) &&find(handle, #name, all.name)
  const bool complete = true KOORD_TLS_FUNCTIONS(KOORD_FIND);
#undef KOORD_FIND
  if (!complete) return invalid("cannot use " + name + ": " + ::dlerror());
  if (all.OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) != 1) return invalid("cannot initialize " + name);
  return all;
}

const Result<Library>& library() {
  static const Result<Library> loaded = load();
  return loaded;
}

// Why the last call failed; forgets it.
std::string reason(const Library& tls) {
  const char* text = tls.ERR_reason_error_string(tls.ERR_get_error());
  tls.ERR_clear_error();
  return text != nullptr ? text : "no reason given";
}

// A passphrase cannot be entered.
int no_passphrase(char*, int, int, void*) { return -1; }

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address;
  return ::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

using Context = std::unique_ptr<SSL_CTX, decltype(&::SSL_CTX_free)>;
using Certificate = std::unique_ptr<X509, decltype(&::X509_free)>;

// PEM text, and what to call it in an error.
struct PemText {
  std::string name, text;
};

Result<PemText> pem_of(const std::string& text, const std::string& file, const char* what) {
  if (!text.empty()) return PemText{what, text};
  std::string read = TRY(read_file(file, kMaxPemBytes));
  return PemText{"'" + file + "'", std::move(read)};
}

// The certificates in a text, as far as they can be read; OpenSSL remembers why no further.
std::vector<Certificate> certificates_in(const Library& tls, const std::string& text) {
  const std::unique_ptr<BIO, decltype(&::BIO_free)> bio(tls.BIO_new_mem_buf(text.data(), static_cast<int>(text.size())),
                                                        tls.BIO_free);
  std::vector<Certificate> all;
  while (X509* one = bio ? tls.PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr) : nullptr)
    all.emplace_back(one, tls.X509_free);
  return all;
}

// That no further certificate begins is the one good end.
bool read_to_end(const Library& tls, const std::vector<Certificate>& all) {
  const unsigned long error = tls.ERR_peek_last_error();
  return !all.empty() && ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

Result<void> believe(const Library& tls, SSL_CTX* context, const PemText& authorities) {
  const std::vector<Certificate> all = certificates_in(tls, authorities.text);
  bool good = read_to_end(tls, all);
  if (good) tls.ERR_clear_error();
  for (const Certificate& one : all)
    good = good && tls.X509_STORE_add_cert(tls.SSL_CTX_get_cert_store(context), one.get()) == 1;
  if (good) return {};
  return invalid(authorities.name + ": " + reason(tls) + ", expected certificates of authorities in PEM");
}

// The first certificate is ours, those behind it lead to the authority.
Result<void> present(const Library& tls, SSL_CTX* context, const PemText& chain) {
  std::vector<Certificate> all = certificates_in(tls, chain.text);
  bool good = read_to_end(tls, all);
  if (good) tls.ERR_clear_error();
  for (std::size_t i = 0; good && i < all.size(); ++i) {
    good = i == 0 ? tls.SSL_CTX_use_certificate(context, all[i].get()) == 1
                  : tls.SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 1, all[i].get()) == 1;
  }
  if (good) return {};
  return invalid(chain.name + ": " + reason(tls) + ", expected our certificate in PEM");
}

Result<void> use_key(const Library& tls, SSL_CTX* context, const PemText& pem) {
  const std::unique_ptr<BIO, decltype(&::BIO_free)> bio(
      tls.BIO_new_mem_buf(pem.text.data(), static_cast<int>(pem.text.size())), tls.BIO_free);
  const std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key(
      bio ? tls.PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr) : nullptr, tls.EVP_PKEY_free);
  if (key && tls.SSL_CTX_use_PrivateKey(context, key.get()) == 1 && tls.SSL_CTX_check_private_key(context) == 1)
    return {};
  return invalid(pem.name + ": " + reason(tls) + ", expected the key of our certificate in PEM, without a passphrase");
}

Result<Context> make_context(const Library& tls, const TlsOptions& options) {
  Context context(tls.SSL_CTX_new(tls.TLS_client_method()), tls.SSL_CTX_free);
  if (!context) return invalid("cannot begin TLS: " + reason(tls));
  tls.SSL_CTX_ctrl(context.get(), SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr);
  tls.SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  if (options.ca_file.empty() && options.ca_text.empty()) {
    if (tls.SSL_CTX_set_default_verify_paths(context.get()) != 1)
      return invalid("cannot find the system's authorities: " + reason(tls));
  } else {
    const PemText authorities = TRY(pem_of(options.ca_text, options.ca_file, "the authorities' text"));
    TRY(believe(tls, context.get(), authorities));
  }
  if (options.certificate_file.empty() && options.certificate_text.empty()) return context;
  const PemText chain = TRY(pem_of(options.certificate_text, options.certificate_file, "our certificate's text"));
  TRY(present(tls, context.get(), chain));
  const bool apart = !options.key_file.empty() || !options.key_text.empty();
  const PemText key = apart ? TRY(pem_of(options.key_text, options.key_file, "our key's text")) : chain;
  TRY(use_key(tls, context.get(), key));
  return context;
}

}  // namespace

struct TlsSession::State {
  State(const Library& library, SSL* session, BIO* from_server, BIO* to_server, std::string server)
      : tls(library), ssl(session, library.SSL_free), in(from_server), out(to_server), name(std::move(server)) {}

  const Library& tls;
  std::unique_ptr<SSL, decltype(&::SSL_free)> ssl;
  BIO* in;   // the session's
  BIO* out;  // the session's
  std::string name;

  // Returns the meaning of a call that did not succeed: false, nothing yet; or an error.
  Result<bool> outcome(int returned, const char* what) {
    const int code = tls.SSL_get_error(ssl.get(), returned);
    if (code == SSL_ERROR_WANT_READ || code == SSL_ERROR_WANT_WRITE) return tls.ERR_clear_error(), false;
    if (code == SSL_ERROR_ZERO_RETURN) return true;
    const long verified = tls.SSL_get_verify_result(ssl.get());
    std::string why = reason(tls);
    if (verified != X509_V_OK)
      why = "the certificate of '" + name + "' is not trusted: " + tls.X509_verify_cert_error_string(verified);
    return Error{std::make_error_code(std::errc::permission_denied), std::string(what) + ": " + why};
  }
};

TlsSession::TlsSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsSession::TlsSession(TlsSession&&) noexcept = default;
TlsSession::~TlsSession() = default;

Result<TlsSession> TlsSession::begin(const TlsOptions& options) {
  if (!library()) return library().error();
  const Library& tls = *library();
  tls.ERR_clear_error();
  Context context = TRY(make_context(tls, options));
  SSL* ssl = tls.SSL_new(context.get());
  if (ssl == nullptr) return invalid("cannot begin TLS: " + reason(tls));
  auto state = std::make_unique<State>(tls, ssl, tls.BIO_new(tls.BIO_s_mem()), tls.BIO_new(tls.BIO_s_mem()),
                                       options.server_name);
  tls.SSL_set_bio(ssl, state->in, state->out);
  const char* name = options.server_name.c_str();
  if (is_address(options.server_name)) {
    if (tls.X509_VERIFY_PARAM_set1_ip_asc(tls.SSL_get0_param(ssl), name) != 1)
      return invalid("'" + options.server_name + "': " + reason(tls));
  } else if (options.server_name.empty() || tls.SSL_set1_host(ssl, name) != 1 ||
             tls.SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, const_cast<char*>(name)) != 1) {
    return invalid("'" + options.server_name + "': expected the server name of the certificate");
  }
  tls.SSL_set_connect_state(ssl);
  return TlsSession(std::move(state));
}

Result<bool> TlsSession::shake_hands() {
  const int done = state_->tls.SSL_do_handshake(state_->ssl.get());
  if (done == 1) return true;
  const bool ended = TRY(state_->outcome(done, "TLS"));  // close_notify
  if (ended)
    return Error{std::make_error_code(std::errc::connection_reset),
                 "TLS: the server ended the handshake with close_notify"};
  return false;
}

Result<void> TlsSession::write(std::string_view plain) {
  const int size = static_cast<int>(std::min<std::size_t>(plain.size(), INT_MAX));
  const int written = state_->tls.SSL_write(state_->ssl.get(), plain.data(), size);
  if (written == size) return {};
  TRY(state_->outcome(written, "TLS"));
  return invalid("TLS: the request could not be written");
}

Result<void> TlsSession::incoming(std::string_view bytes) {
  const int size = static_cast<int>(bytes.size());
  if (state_->tls.BIO_write(state_->in, bytes.data(), size) == size) return {};
  return invalid("TLS: " + reason(state_->tls));
}

Result<bool> TlsSession::read(std::string& plain) {
  std::array<char, 16 << 10> block;
  for (;;) {
    const int n = state_->tls.SSL_read(state_->ssl.get(), block.data(), static_cast<int>(block.size()));
    if (n <= 0) return state_->outcome(n, "TLS");
    plain.append(block.data(), static_cast<std::size_t>(n));
  }
}

std::string TlsSession::outgoing() {
  std::string bytes;
  std::array<char, 16 << 10> block;
  for (int n; (n = state_->tls.BIO_read(state_->out, block.data(), static_cast<int>(block.size()))) > 0;)
    bytes.append(block.data(), static_cast<std::size_t>(n));
  return bytes;
}

}  // namespace koord::http
