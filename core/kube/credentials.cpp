// SPDX-License-Identifier: Apache-2.0
#include "core/kube/credentials.hpp"

#include <algorithm>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::kube {
namespace {

constexpr std::size_t kMaxTokenBytes = 64 << 10;

bool replaced(FileVersion& version, const std::string& path) {
  const FileVersion now = version_of(path);
  return std::exchange(version, now) != now;
}

// Returns the token if it is valid in a header.
Result<std::string> checked_token(std::string_view text, const std::string& from) {
  const std::string_view token = trim(text);
  if (token.empty()) return invalid(from + ": found nothing, expected a token");
  const bool fits = std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (!fits) return invalid(from + ": found spaces, control or other characters, expected a token of printable ASCII");
  return std::string(token);
}

Result<std::string> token_in(const std::string& path) {
  const std::string text = TRY(read_file(path, kMaxTokenBytes));
  return checked_token(text, "'" + path + "'");
}

}  // namespace

Credentials::Credentials(const ConnectionConfig& config, const Clock& clock) : config_(config), clock_(clock) {
  if (!config.token_file.empty())
    token_ = not_found("'" + config.token_file + "' has not been read");
  else if (!config.token.empty())
    token_ = checked_token(config.token, "the token");
  refresh_now();
}

Credentials::Changes Credentials::refresh() {
  const Time now = clock_.now();
  if (checked_at_ != Time::min() && now - checked_at_ < kFileCheckPeriod) return {};
  return refresh_now();
}

Credentials::Changes Credentials::refresh_now() {
  checked_at_ = clock_.now();
  Changes changes;
  changes.token = read_token();
  // All files are checked, even if one of them has failed.
  changes.tls |= replaced(ca_, config_.ca.file);
  changes.tls |= replaced(certificate_, config_.certificate.file);
  changes.tls |= replaced(key_, config_.key.file);
  return changes;
}

bool Credentials::read_token() {
  if (config_.token_file.empty() || (!replaced(token_file_, config_.token_file) && token_)) return false;
  Result<std::string> token = token_in(config_.token_file);
  if (!token && token_ && !token_->empty()) {
    token_file_ = {};  // read again next time
    return false;
  }
  const bool another = token && (!token_ || *token != *token_);
  token_ = std::move(token);
  return another;
}

http::TlsOptions Credentials::tls() const {
  return {.ca_file = config_.ca.file,
          .certificate_file = config_.certificate.file,
          .key_file = config_.key.file,
          .server_name = config_.server_name.empty() ? config_.host : config_.server_name,
          .ca_text = config_.ca.text,
          .certificate_text = config_.certificate.text,
          .key_text = config_.key.text};
}

}  // namespace koord::kube
