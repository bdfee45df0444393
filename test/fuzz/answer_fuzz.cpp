// SPDX-License-Identifier: Apache-2.0
// Answers of HTTP servers, chunked or not, and the lines of their bodies. The result must not depend on how the bytes
// are divided into pieces. The first byte selects the pieces.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/response_parser.hpp"
#include "core/kube/lines.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;

namespace {

constexpr std::size_t kMaxLine = 100;

struct Outcome {
  unsigned status = 0;
  bool reusable = false;
  std::vector<std::string> lines;

  bool operator==(const Outcome&) const = default;
};

// Returns nullopt if the bytes are not a valid answer, if the answer would be incomplete after the server closes now,
// or if a line is too long.
std::optional<Outcome> read(std::string_view bytes, std::size_t piece) {
  Outcome outcome;
  kube::Lines lines(kMaxLine);
  const auto on_line = [&](std::string_view line) {
    check(!line.empty() && line.size() <= kMaxLine && line.find('\n') == std::string_view::npos);
    outcome.lines.emplace_back(line);
    return true;
  };
  http::ResponseParser parser([&](std::string_view part) { return lines.feed(part, on_line); });
  bool whole = false;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const auto fed = parser.feed(bytes.substr(at, piece));
    if (!fed) return std::nullopt;
    if ((whole = *fed)) {
      // Bytes after the answer are detected only if they come in the same piece.
      outcome.reusable = parser.may_be_reused() && at + piece >= bytes.size();
      break;
    }
  }
  if (!whole && !parser.end()) return std::nullopt;
  check(lines.end(on_line).has_value() && parser.has_header());
  outcome.status = parser.take().status;
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Whether longer headers are refused depends on how many bytes arrive together.
  if (size < 2 || size > http::kMaxHeaderBytes) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  check(read(bytes, bytes.size()) == read(bytes, data[0] % 64 + 1u));
  return 0;
}
