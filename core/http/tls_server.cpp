// SPDX-License-Identifier: Apache-2.0
#include "core/http/tls_server.hpp"

#include <algorithm>
#include <utility>

#include "core/base/parse.hpp"
#include "core/base/utf8.hpp"
#include "core/http/tls_library.hpp"

namespace koord::http {
namespace {

// Ciphers with forward secrecy and authenticated encryption. TLS 1.3 has only such ciphers.
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr long kMaxClientChainBytes = 32 << 10;
constexpr std::string_view kProtocol = "http/1.1";

using CertificateStore = std::unique_ptr<X509_STORE, decltype(&::X509_STORE_free)>;

struct Pool {
  std::string name;
  CertificateStore store;
};

// Selects the protocol (ALPN). A client that offers protocols must offer http/1.1.
int select_protocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                    unsigned offered_size, void*) {
  const std::string_view list(reinterpret_cast<const char*>(offered), offered_size);
  for (std::size_t at = 0; at < list.size();) {
    const auto length = static_cast<unsigned char>(list[at]);
    if (list.substr(at + 1, length) == kProtocol) {
      *chosen = offered + at + 1;
      *size = length;
      return SSL_TLSEXT_ERR_OK;
    }
    at += 1u + length;
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

// Accepts any client certificate in the handshake; peer_of() verifies it later.
int accept_any_certificate(X509_STORE_CTX*, void*) { return 1; }

Result<TlsContext> make_server_context(const TlsLibrary& tls, const TlsServerOptions& options) {
  TlsContext context(tls.SSL_CTX_new(tls.TLS_server_method()), tls.SSL_CTX_free);
  if (!context) return invalid("cannot begin TLS: " + tls_reason(tls));
  tls.SSL_CTX_ctrl(context.get(), SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr);
  tls.SSL_CTX_ctrl(context.get(), SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF, nullptr);
  tls.SSL_CTX_ctrl(context.get(), SSL_CTRL_MODE, SSL_MODE_RELEASE_BUFFERS, nullptr);
  tls.SSL_CTX_ctrl(context.get(), SSL_CTRL_SET_MAX_CERT_LIST, kMaxClientChainBytes, nullptr);
  tls.SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                             SSL_OP_CIPHER_SERVER_PREFERENCE);
  tls.SSL_CTX_set_num_tickets(context.get(), 0);
  tls.SSL_CTX_set_alpn_select_cb(context.get(), select_protocol, nullptr);
  if (tls.SSL_CTX_set_cipher_list(context.get(), kCiphers) != 1)
    return invalid("cannot choose ciphers: " + tls_reason(tls));
  const PemText chain = TRY(pem_of({}, options.certificate_file, ""));
  TRY(present(tls, context.get(), chain));
  const PemText key = TRY(pem_of({}, options.key_file, ""));
  TRY(use_key(tls, context.get(), key));
  return context;
}

// Makes a pool of the authorities. Clients are sent their names, to choose a certificate.
Result<Pool> make_pool(const TlsLibrary& tls, SSL_CTX* context, const TlsServerOptions::Authorities& clients) {
  const std::string what = "the text of authorities '" + clients.name + "'";
  const PemText pem = TRY(pem_of(clients.text, clients.file, what.c_str()));
  const std::vector<TlsCertificate> all = TRY(read_authorities(tls, pem));
  CertificateStore store(tls.X509_STORE_new(), tls.X509_STORE_free);
  if (!store) return invalid("cannot keep authorities: " + tls_reason(tls));
  for (const TlsCertificate& one : all) {
    if (tls.X509_STORE_add_cert(store.get(), one.get()) != 1 || tls.SSL_CTX_add_client_CA(context, one.get()) != 1)
      return invalid(pem.name + ": " + tls_reason(tls) + ", expected certificates of authorities in PEM");
  }
  return Pool{clients.name, std::move(store)};
}

// Returns why a certificate is not verified. Empty: it has a chain to an authority of the store, is valid now, and is
// for clients.
std::string problem_with(const TlsLibrary& tls, X509_STORE* store, X509* certificate, STACK_OF(X509) * chain) {
  const std::unique_ptr<X509_STORE_CTX, decltype(&::X509_STORE_CTX_free)> check(tls.X509_STORE_CTX_new(),
                                                                                tls.X509_STORE_CTX_free);
  std::string problem;
  if (!check || tls.X509_STORE_CTX_init(check.get(), store, certificate, chain) != 1 ||
      tls.X509_STORE_CTX_set_default(check.get(), "ssl_client") != 1)
    problem = "cannot be verified: " + tls_reason(tls);
  else if (tls.X509_verify_cert(check.get()) != 1)
    problem = tls.X509_verify_cert_error_string(tls.X509_STORE_CTX_get_error(check.get()));
  tls.ERR_clear_error();
  return problem;
}

std::vector<std::string> names_in(const TlsLibrary& tls, X509_NAME* subject, int nid) {
  std::vector<std::string> names;
  for (int at = -1; (at = tls.X509_NAME_get_index_by_NID(subject, nid, at)) >= 0;) {
    unsigned char* text = nullptr;
    const int size = tls.ASN1_STRING_to_UTF8(&text, tls.X509_NAME_ENTRY_get_data(tls.X509_NAME_get_entry(subject, at)));
    if (size < 0) continue;
    names.emplace_back(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
    tls.CRYPTO_free(text, __FILE__, __LINE__);
  }
  tls.ERR_clear_error();
  return names;
}

// Returns the DNS names of the certificate, those that clients compare.
std::vector<std::string> dns_names_of(const TlsLibrary& tls, X509* certificate) {
  const std::unique_ptr<GENERAL_NAMES, decltype(&::GENERAL_NAMES_free)> all(
      static_cast<GENERAL_NAMES*>(tls.X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      tls.GENERAL_NAMES_free);
  std::vector<std::string> names;
  const auto* stack = reinterpret_cast<const OPENSSL_STACK*>(all.get());
  for (int i = 0; all && i < tls.OPENSSL_sk_num(stack); ++i) {
    const auto* name = static_cast<const GENERAL_NAME*>(tls.OPENSSL_sk_value(stack, i));
    if (name->type != GEN_DNS) continue;
    unsigned char* text = nullptr;
    const int size = tls.ASN1_STRING_to_UTF8(&text, name->d.dNSName);
    if (size < 0) continue;
    names.emplace_back(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
    tls.CRYPTO_free(text, __FILE__, __LINE__);
  }
  tls.ERR_clear_error();
  return names;
}

// Returns why the certificate in the context is not for this name; empty: it is.
std::string name_problem_of(const TlsLibrary& tls, SSL_CTX* context, const TlsServerOptions& options) {
  const std::string& wanted = options.server_name;
  X509* certificate = tls.SSL_CTX_get0_certificate(context);
  if (wanted.empty() ||
      tls.X509_check_host(certificate, wanted.data(), wanted.size(), X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, nullptr) == 1)
    return {};
  std::vector<std::string> names = dns_names_of(tls, certificate);
  constexpr std::size_t kMostNames = 8;
  if (names.size() > kMostNames) {
    names.resize(kMostNames);
    names.emplace_back("…");
  }
  std::string found = names.empty() ? "no DNS name" : "the DNS names " + join(names, ", ");
  replace_control_characters(found);
  return "'" + options.certificate_file + "': expected a certificate with the DNS name '" + wanted + "', found " +
         found;
}

bool has_control_characters(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// Reads the subject's names. Returns why they are not a valid identity; empty: they are.
std::string read_subject(const TlsLibrary& tls, X509* certificate, TlsPeer::Certificate& into) {
  X509_NAME* subject = tls.X509_get_subject_name(certificate);
  std::vector<std::string> common_names = names_in(tls, subject, NID_commonName);
  std::vector<std::string> organizations = names_in(tls, subject, NID_organizationName);
  if (common_names.size() != 1 || common_names.front().empty())
    return "found " + std::to_string(common_names.size()) + " common names in its subject, expected one";
  if (has_control_characters(common_names.front()) ||
      std::any_of(organizations.begin(), organizations.end(), has_control_characters))
    return "found control characters in its subject";
  into.common_name = std::move(common_names.front());
  into.organizations = std::move(organizations);
  return {};
}

}  // namespace

bool PeerCertificate::is_verified_by(std::string_view authorities) const {
  return std::find(verified_by.begin(), verified_by.end(), authorities) != verified_by.end();
}

struct TlsServer::Material {
  TlsContext context;
  std::vector<Pool> pools;
};

struct TlsServer::Versions {
  FileVersion certificate, key;
  std::vector<FileVersion> clients;

  bool operator==(const Versions&) const = default;
  static Versions of(const TlsServerOptions& options) {
    Versions versions{version_of(options.certificate_file), version_of(options.key_file), {}};
    for (const auto& clients : options.clients) versions.clients.push_back(version_of(clients.file));
    return versions;
  }
};

TlsServer::TlsServer(TlsServerOptions options)
    : options_(std::move(options)), versions_(std::make_unique<Versions>()) {}
TlsServer::~TlsServer() = default;

Result<std::shared_ptr<TlsServer>> TlsServer::open(TlsServerOptions options) {
  std::shared_ptr<TlsServer> server(new TlsServer(std::move(options)));
  TRY(server->load());
  return server;
}

Result<void> TlsServer::load() {
  if (!tls_library()) return tls_library().error();
  const TlsLibrary& tls = *tls_library();
  tls.ERR_clear_error();
  checked_at_ = std::chrono::steady_clock::now();
  // Taken before the files are read, so a file that is replaced meanwhile is read again.
  Versions versions = Versions::of(options_);
  TlsContext context = TRY(make_server_context(tls, options_));
  std::vector<Pool> pools;
  for (const TlsServerOptions::Authorities& clients : options_.clients) {
    Pool pool = TRY(make_pool(tls, context.get(), clients));
    pools.push_back(std::move(pool));
  }
  if (!pools.empty() || options_.clients_come_later) {
    tls.SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    tls.SSL_CTX_set_cert_verify_callback(context.get(), accept_any_certificate, nullptr);
  }
  std::string name_problem = name_problem_of(tls, context.get(), options_);
  material_.reset(new Material{std::move(context), std::move(pools)});
  *versions_ = std::move(versions);
  const std::lock_guard lock(mutex_);
  problem_.clear();
  name_problem_ = std::move(name_problem);
  ++generation_;
  return {};
}

void TlsServer::refresh() {
  const auto now = std::chrono::steady_clock::now();
  if (now - checked_at_ < kCheckPeriod) return;
  checked_at_ = now;
  if (Versions::of(options_) == *versions_) {
    const std::lock_guard lock(mutex_);
    problem_.clear();  // the invalid file was replaced by the file that is in use
    return;
  }
  Result<void> loaded = load();
  if (loaded) return;
  const std::lock_guard lock(mutex_);
  problem_ = loaded.error().message();
}

Result<void> TlsServer::renew_clients(std::vector<TlsServerOptions::Authorities> clients) {
  std::swap(options_.clients, clients);
  Result<void> loaded = load();
  if (!loaded) std::swap(options_.clients, clients);
  return loaded;
}

std::string TlsServer::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

std::string TlsServer::name_problem() const {
  const std::lock_guard lock(mutex_);
  return name_problem_;
}

std::uint64_t TlsServer::generation() const {
  const std::lock_guard lock(mutex_);
  return generation_;
}

Result<TlsSession> TlsServer::accept() {
  refresh();
  return TlsSession::accept(material_->context.get());
}

TlsPeer TlsServer::peer_of(const TlsSession& session) const {
  const TlsLibrary& tls = *tls_library();
  SSL* ssl = session.native();
  TlsPeer peer{tls.SSL_get_version(ssl)};
  const TlsCertificate certificate(tls.SSL_get1_peer_certificate(ssl), tls.X509_free);
  if (!certificate) return peer;
  TlsPeer::Certificate& found = peer.certificate.emplace();
  found.problem = read_subject(tls, certificate.get(), found);
  if (!found.problem.empty()) return peer;
  if (material_->pools.empty()) found.problem = "no authorities of clients are known";
  // An authority that knows the certificate gives a better reason than an authority that does not know it.
  const std::string unknown = tls.X509_verify_cert_error_string(X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY);
  for (const Pool& pool : material_->pools) {
    std::string problem = problem_with(tls, pool.store.get(), certificate.get(), tls.SSL_get_peer_cert_chain(ssl));
    if (problem.empty())
      found.verified_by.push_back(pool.name);
    else if (found.problem.empty() || found.problem == unknown)
      found.problem = std::move(problem);
  }
  if (!found.verified_by.empty()) found.problem.clear();
  return peer;
}

}  // namespace koord::http
