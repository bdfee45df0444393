// SPDX-License-Identifier: Apache-2.0
#include "core/http/tls.hpp"

#include <algorithm>
#include <array>
#include <climits>

#include "core/base/ip_address.hpp"
#include "core/http/tls_library.hpp"

namespace koord::http {
namespace {

Result<void> trust(const TlsLibrary& tls, SSL_CTX* context, const PemText& authorities) {
  const std::vector<TlsCertificate> all = TRY(read_authorities(tls, authorities));
  for (const TlsCertificate& one : all) {
    if (tls.X509_STORE_add_cert(tls.SSL_CTX_get_cert_store(context), one.get()) != 1)
      return invalid(authorities.name + ": " + tls_reason(tls) + ", expected certificates of authorities in PEM");
  }
  return {};
}

Result<TlsContext> make_context(const TlsLibrary& tls, const TlsOptions& options) {
  TlsContext context(tls.SSL_CTX_new(tls.TLS_client_method()), tls.SSL_CTX_free);
  if (!context) return invalid("cannot begin TLS: " + tls_reason(tls));
  tls.SSL_CTX_ctrl(context.get(), SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr);
  tls.SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  if (options.ca_file.empty() && options.ca_text.empty()) {
    if (tls.SSL_CTX_set_default_verify_paths(context.get()) != 1)
      return invalid("cannot find the system's authorities: " + tls_reason(tls));
  } else {
    const PemText authorities = TRY(pem_of(options.ca_text, options.ca_file, "the authorities' text"));
    TRY(trust(tls, context.get(), authorities));
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
  State(const TlsLibrary& library, SSL* session, BIO* from_peer, BIO* to_peer, std::string server)
      : tls(library), ssl(session, library.SSL_free), in(from_peer), out(to_peer), name(std::move(server)) {}

  static Result<std::unique_ptr<State>> make(const TlsLibrary& tls, SSL_CTX* context, std::string server) {
    SSL* ssl = tls.SSL_new(context);
    if (ssl == nullptr) return invalid("cannot begin TLS: " + tls_reason(tls));
    auto state = std::make_unique<State>(tls, ssl, tls.BIO_new(tls.BIO_s_mem()), tls.BIO_new(tls.BIO_s_mem()),
                                         std::move(server));
    tls.SSL_set_bio(ssl, state->in, state->out);
    return state;
  }

  const TlsLibrary& tls;
  std::unique_ptr<SSL, decltype(&::SSL_free)> ssl;
  BIO* in;           // owned by the session
  BIO* out;          // owned by the session
  std::string name;  // name of the server; empty for the server's end

  // Returns the meaning of a failed call: true, the peer has ended the stream; false, more bytes are needed; or an
  // error.
  Result<bool> outcome(int returned, const char* what) {
    const int code = tls.SSL_get_error(ssl.get(), returned);
    if (code == SSL_ERROR_WANT_READ || code == SSL_ERROR_WANT_WRITE) return tls.ERR_clear_error(), false;
    if (code == SSL_ERROR_ZERO_RETURN) return true;
    const long verified = tls.SSL_get_verify_result(ssl.get());
    std::string why = tls_reason(tls);
    if (verified != X509_V_OK)
      why = "the certificate of '" + name + "' is not trusted: " + tls.X509_verify_cert_error_string(verified);
    return Error{std::make_error_code(std::errc::permission_denied), std::string(what) + ": " + why};
  }
};

TlsSession::TlsSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsSession::TlsSession(TlsSession&&) noexcept = default;
TlsSession::~TlsSession() = default;

Result<TlsSession> TlsSession::begin(const TlsOptions& options) {
  if (!tls_library()) return tls_library().error();
  const TlsLibrary& tls = *tls_library();
  tls.ERR_clear_error();
  TlsContext context = TRY(make_context(tls, options));
  auto state = TRY(State::make(tls, context.get(), options.server_name));
  SSL* ssl = state->ssl.get();
  const char* name = options.server_name.c_str();
  if (is_ip_address(options.server_name)) {
    if (tls.X509_VERIFY_PARAM_set1_ip_asc(tls.SSL_get0_param(ssl), name) != 1)
      return invalid("'" + options.server_name + "': " + tls_reason(tls));
  } else if (options.server_name.empty() || tls.SSL_set1_host(ssl, name) != 1 ||
             tls.SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, const_cast<char*>(name)) != 1) {
    return invalid("'" + options.server_name + "': expected the host name in the server's certificate");
  }
  tls.SSL_set_connect_state(ssl);
  return TlsSession(std::move(state));
}

Result<TlsSession> TlsSession::accept(ssl_ctx_st* context) {
  if (!tls_library()) return tls_library().error();
  const TlsLibrary& tls = *tls_library();
  tls.ERR_clear_error();
  auto state = TRY(State::make(tls, context, {}));
  tls.SSL_set_accept_state(state->ssl.get());
  return TlsSession(std::move(state));
}

Result<bool> TlsSession::shake_hands() {
  const int done = state_->tls.SSL_do_handshake(state_->ssl.get());
  if (done == 1) return true;
  const bool ended = TRY(state_->outcome(done, "TLS"));  // close_notify
  if (ended)
    return Error{std::make_error_code(std::errc::connection_reset), std::string("TLS: the ") +
                                                                        (state_->name.empty() ? "client" : "server") +
                                                                        " ended the handshake with close_notify"};
  return false;
}

Result<void> TlsSession::write(std::string_view plain) {
  const int size = static_cast<int>(std::min<std::size_t>(plain.size(), INT_MAX));
  const int written = state_->tls.SSL_write(state_->ssl.get(), plain.data(), size);
  if (written == size) return {};
  TRY(state_->outcome(written, "TLS"));
  return invalid("TLS: data could not be written");
}

void TlsSession::end() {
  state_->tls.SSL_shutdown(state_->ssl.get());
  state_->tls.ERR_clear_error();
}

Result<void> TlsSession::incoming(std::string_view bytes) {
  const int size = static_cast<int>(bytes.size());
  if (state_->tls.BIO_write(state_->in, bytes.data(), size) == size) return {};
  return invalid("TLS: " + tls_reason(state_->tls));
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

void TlsSession::free_passed() {
  const TlsLibrary& tls = state_->tls;
  if (tls.BIO_ctrl_pending(state_->in) != 0 || tls.BIO_ctrl_pending(state_->out) != 0) return;
  BIO* in = tls.BIO_new(tls.BIO_s_mem());
  BIO* out = tls.BIO_new(tls.BIO_s_mem());
  if (in == nullptr || out == nullptr) {
    tls.BIO_free(in);
    tls.BIO_free(out);
    return;
  }
  tls.SSL_set_bio(state_->ssl.get(), in, out);
  state_->in = in;
  state_->out = out;
}

ssl_st* TlsSession::native() const { return state_->ssl.get(); }

}  // namespace koord::http
