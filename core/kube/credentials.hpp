// SPDX-License-Identifier: Apache-2.0
// Credentials: the token and the TLS options that a ConnectionConfig names, as its files are now. Files are looked at
// every few seconds at most, and at once when the server refuses us. [loop thread]
#pragma once

#include <string>

#include "core/base/clock.hpp"
#include "core/base/file_version.hpp"
#include "core/base/result.hpp"
#include "core/http/tls.hpp"
#include "core/kube/connection_config.hpp"

namespace koord::kube {

inline constexpr Duration kFileCheckPeriod = std::chrono::seconds(3);

class Credentials {
 public:
  struct Changes {
    bool token = false;  // it is another one
    bool tls = false;    // a file with a certificate, a key or authorities was replaced
    bool any() const { return token || tls; }
  };

  Credentials(const ConnectionConfig& config, const Clock& clock);

  // Looks whether files were replaced, if it is time to.
  Changes refresh();
  Changes refresh_now();

  // "": none. A token that can no longer be read is kept; an error: there never was one.
  const Result<std::string>& token() const { return token_; }
  http::TlsOptions tls() const;

 private:
  bool read_token();

  const ConnectionConfig& config_;
  const Clock& clock_;
  Time checked_at_ = Time::min();
  FileVersion ca_, certificate_, key_, token_file_;
  Result<std::string> token_ = std::string();
};

}  // namespace koord::kube
