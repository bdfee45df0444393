// SPDX-License-Identifier: Apache-2.0
// TlsSession: the client's end of one TLS connection, bytes in and bytes out; the socket is somebody else's. The server's
// certificate is always verified, against the authorities and the name that the options say. OpenSSL is loaded when it is
// first needed, without the system's openssl.cnf. [any thread, one at a time]
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::http {

// PEM, in files that are read for each session, so that they may be replaced, or as text; where there is text, the file is
// not read.
struct TlsOptions {
  std::string ca_file;                     // whom to believe; empty: the system's authorities
  std::string certificate_file, key_file;  // who we are; empty: nobody
  std::string server_name;                 // whom the certificate must be for: a host's name or its address
  std::string ca_text = {};
  std::string certificate_text = {}, key_text = {};
};

class TlsSession {
 public:
  static Result<TlsSession> begin(const TlsOptions& options);
  TlsSession(TlsSession&&) noexcept;
  ~TlsSession();

  // Goes on with the handshake. True: it is done; false: wait for what the server says.
  Result<bool> shake_hands();
  // After the handshake: what is to be said to the server goes to outgoing().
  Result<void> write(std::string_view plain);

  // From the server; then ask shake_hands() or read().
  Result<void> incoming(std::string_view bytes);
  // Appends what has come of what the server said. True: it has said all.
  Result<bool> read(std::string& plain);
  // What is to be sent now; gone from here then.
  std::string outgoing();

 private:
  struct State;
  explicit TlsSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace koord::http
