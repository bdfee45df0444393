// SPDX-License-Identifier: Apache-2.0
// TlsServer: certificate and key of a TLS server, and the authorities of its clients. It speaks TLS 1.2
// and 1.3 only, with forward secrecy, without resumption and renegotiation, and offers http/1.1 (ALPN). Files that were
// replaced are read again: certificate, key and authorities are taken together or not at all, and a file that cannot be
// used leaves what was there in use. Client certificates are requested if there are authorities, or will be, and not
// required: an unknown, expired or other certificate does not end the handshake, it only is not verified. Later
// authorities verify it, too. Owner: the listener,
// and each connection. [loop thread] unless marked.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/file_version.hpp"
#include "core/base/result.hpp"
#include "core/http/tls.hpp"

namespace koord::http {

struct PeerCertificate {
  std::string common_name;                      // of its subject
  std::vector<std::string> organizations = {};  // of its subject
  std::vector<std::string> verified_by = {};    // names of TlsServerOptions::Authorities; empty: not verified
  std::string problem = {};                     // why it is not verified

  bool is_verified_by(std::string_view authorities) const;
};

// The other end of a TLS connection.
struct TlsPeer {
  using Certificate = PeerCertificate;

  std::string version;                                    // "TLSv1.3"
  std::optional<Certificate> certificate = std::nullopt;  // nullopt: it showed none
  std::string address = {};                               // without its port
  // The server had other authorities when the client chose its certificate.
  bool is_outdated = false;
};

struct TlsServerOptions {
  // Trusted authorities of clients, PEM, from a file or as text. A certificate is verified against each set by itself.
  struct Authorities {
    std::string name;  // in TlsPeer::Certificate::verified_by
    std::string file = {};
    std::string text = {};
  };
  std::string certificate_file, key_file;  // PEM
  std::vector<Authorities> clients = {};
  bool clients_come_later = false;  // certificates are requested also while there are no authorities
  std::string server_name = {};     // DNS name that the certificate should have; empty: any
};

class TlsServer {
 public:
  // How often replaced files are looked for, and a client's certificate is verified again, at most.
  static constexpr Duration kCheckPeriod = std::chrono::seconds(1);
  static constexpr Duration kVerifyPeriod = std::chrono::seconds(10);

  // An error names the file that cannot be used.
  static Result<std::shared_ptr<TlsServer>> open(TlsServerOptions options);
  ~TlsServer();
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  // Looks for replaced files, if it is time to. New connections do that, too.
  void refresh();
  // Other authorities of clients, for those that come as text. An error leaves the old ones in use.
  Result<void> renew_clients(std::vector<TlsServerOptions::Authorities> clients);

  // [any] The problem with a replaced file, which it names; empty: none.
  std::string problem() const;
  // [any] Why clients that expect TlsServerOptions::server_name refuse the certificate in use; empty: they accept it.
  std::string name_problem() const;
  // [any] How often files were taken, from 1.
  std::uint64_t generation() const;

  Result<TlsSession> accept();
  // After the handshake.
  TlsPeer peer_of(const TlsSession& session) const;

 private:
  struct Material;
  struct Versions;
  explicit TlsServer(TlsServerOptions options);
  Result<void> load();

  TlsServerOptions options_;
  std::unique_ptr<Versions> versions_;
  std::unique_ptr<const Material> material_;
  std::chrono::steady_clock::time_point checked_at_{};
  mutable std::mutex mutex_;  // of what follows
  std::string problem_, name_problem_;
  std::uint64_t generation_ = 0;
};

}  // namespace koord::http
