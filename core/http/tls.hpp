// SPDX-License-Identifier: Apache-2.0
// TlsSession: one end of a TLS connection, bytes in and bytes out; the socket belongs to the caller. As a client it
// always verifies the server's certificate, against the authorities and the name in the options. The server's end is
// begun by tls_server.hpp. OpenSSL is loaded when it is first needed, without the system's openssl.cnf. [any thread,
// one at a time]
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

struct ssl_st;
struct ssl_ctx_st;

namespace koord::http {

// PEM, in files that are read for each session, so that they may be replaced, or as text; where there is text, the file
// is not read.
struct TlsOptions {
  std::string ca_file;                     // trusted authorities; empty: the system's
  std::string certificate_file, key_file;  // the client's own certificate; empty: none
  std::string server_name;                 // name in the certificate: a host's name or its address
  std::string ca_text = {};
  std::string certificate_text = {}, key_text = {};
};

class TlsSession {
 public:
  static Result<TlsSession> begin(const TlsOptions& options);
  // The server's end.
  static Result<TlsSession> accept(ssl_ctx_st* context);
  TlsSession(TlsSession&&) noexcept;
  ~TlsSession();

  // Goes on with the handshake. True: it is done; false: wait for what the peer says.
  Result<bool> shake_hands();
  // After the handshake: encrypts data for the peer into outgoing().
  Result<void> write(std::string_view plain);

  // Puts into outgoing() that nothing more will come.
  void end();

  // From the peer; then ask shake_hands() or read().
  Result<void> incoming(std::string_view bytes);
  // Appends the decrypted data that has come. True: the peer has ended the stream.
  Result<bool> read(std::string& plain);
  // Takes the bytes to send now.
  std::string outgoing();

  // Frees the memory of the records that have passed, which OpenSSL would keep in the size of the largest ones. Without
  // effect while something is left to take in either direction.
  void free_passed();

  // For tls_server.cpp.
  ssl_st* native() const;

 private:
  struct State;
  explicit TlsSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace koord::http
