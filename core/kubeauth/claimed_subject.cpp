// SPDX-License-Identifier: Apache-2.0
#include "core/kubeauth/claimed_subject.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cstddef>
#include <optional>

#include "core/base/base64.hpp"
#include "core/json/members.hpp"
#include "core/json/reader.hpp"

namespace koord::kubeauth {
namespace {

constexpr std::size_t kMaxSubject = 512;

// Decodes base64url without padding (RFC 7515, section 2).
std::optional<std::string> decode_base64_url(std::string_view text) {
  std::string ordinary(text);
  std::replace(ordinary.begin(), ordinary.end(), '-', '+');
  std::replace(ordinary.begin(), ordinary.end(), '_', '/');
  ordinary.append((4 - ordinary.size() % 4) % 4, '=');
  return decode_base64(ordinary);
}

// Returns the part between the first and the second of exactly two dots.
std::string_view payload_of(std::string_view token) {
  const std::size_t first = token.find('.');
  const std::size_t second = first == token.npos ? first : token.find('.', first + 1);
  if (second == token.npos || token.find('.', second + 1) != token.npos) return {};
  return token.substr(first + 1, second - first - 1);
}

}  // namespace

std::string claimed_subject(std::string_view token) {
  const std::string_view payload = payload_of(token);
  if (payload.empty()) return {};
  const std::optional<std::string> text = decode_base64_url(payload);
  if (!text) return {};
  const Result<boost::json::object> claims = read_json_object(*text);
  if (!claims) return {};
  std::string subject = json_text(*claims, "sub");
  if (subject.empty()) return {};
  const boost::json::value& bound = json_mapping(*claims, "kubernetes.io");
  const boost::json::value& node = json_mapping(bound, "node");
  for (const std::string& part :
       {json_text(json_mapping(bound, "serviceaccount"), "uid"), json_text(node, "name"), json_text(node, "uid")})
    subject += ' ' + part;
  return subject.size() > kMaxSubject ? std::string() : subject;
}

}  // namespace koord::kubeauth
