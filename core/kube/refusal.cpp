// SPDX-License-Identifier: Apache-2.0
#include "core/kube/refusal.hpp"

#include "core/base/parse.hpp"
#include "core/base/utf8.hpp"

namespace koord::kube {
namespace {

constexpr std::size_t kMaxText = 300;

std::string one_line(std::string_view text) {
  std::string line(trim(text.substr(0, kMaxText + 4)));  // cut_utf8() below must not see a partial last character
  cut_utf8(line, kMaxText);
  replace_invalid_utf8(line);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return line;
}

}  // namespace

Status status_of(const Reply& reply) {
  Status status;
  if (Result<Status> parsed = parse_status(reply.body)) {
    status = *std::move(parsed);
  } else {
    status.message = one_line(reply.body);
  }
  status.code = reply.status;
  if (reply.retry_after) status.retry_after = reply.retry_after;
  return status;
}

std::string describe(const Status& status) {
  std::string text = std::to_string(status.code);
  if (!status.reason.empty()) text += ' ' + one_line(status.reason);
  if (!status.message.empty()) text += ": " + one_line(status.message);
  return text;
}

std::string describe(const Result<Reply>& reply) {
  return reply ? describe(status_of(*reply)) : one_line(reply.error().message());
}

}  // namespace koord::kube
