// SPDX-License-Identifier: Apache-2.0
#include "core/kube/lines.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace koord;
using namespace koord::kube;
using Strings = std::vector<std::string>;

namespace {

struct Collected {
  explicit Collected(std::size_t max_line = 100) : parts(max_line) {}

  bool feed(std::string_view piece) { return parts.feed(piece, take()).has_value(); }
  bool end() { return parts.end(take()).has_value(); }
  Lines::OnLine take() {
    return [this](std::string_view line) {
      lines.emplace_back(line);
      return lines.size() < most;
    };
  }

  Lines parts;
  Strings lines;
  std::size_t most = 1000;
};

}  // namespace

TEST_CASE("lines are passed on whole, however they were divided") {
  for (std::size_t size = 1; size < 12; ++size) {
    Collected all;
    const std::string text = "one\ntwo\r\n\nthree\n";
    for (std::size_t at = 0; at < text.size(); at += size) CHECK(all.feed(text.substr(at, size)));
    CHECK(all.lines == Strings{"one", "two", "three"});
  }
}

TEST_CASE("text without a newline is a line when the stream has ended in order") {
  Collected all;
  CHECK(all.feed("one\ntw"));
  CHECK(all.feed("o"));
  CHECK(all.lines == Strings{"one"});
  CHECK(all.end());
  CHECK(all.lines == Strings{"one", "two"});
  CHECK(all.end());
  CHECK(all.lines.size() == 2);
}

TEST_CASE("a line that is too long is refused as soon as it is") {
  Collected whole(3);
  CHECK(whole.feed("abc\n"));
  auto refused = whole.parts.feed("abcd", whole.take());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().is(std::errc::message_size));
  CHECK(refused.error().message().find("a line of more than 3 bytes") != std::string::npos);
  Collected pieces(3);
  CHECK(pieces.feed("ab"));
  CHECK(pieces.feed("c"));
  CHECK_FALSE(pieces.feed("d"));
}

TEST_CASE(
    "a line that is too long is passed by its beginning and its size, and the next ones come whole, however they were cut") {
  for (std::size_t size = 1; size < 20; ++size) {
    Strings lines, heads;
    std::vector<std::size_t> sizes;
    Lines parts(4, [&](std::string_view head, std::size_t bytes) {
      heads.emplace_back(head);
      sizes.push_back(bytes);
      return true;
    });
    const auto on_line = [&](std::string_view line) {
      lines.emplace_back(line);
      return true;
    };
    const std::string text = "four\nfive5\nsix\na longer line\nend\nlast one";
    for (std::size_t at = 0; at < text.size(); at += size) REQUIRE(parts.feed(text.substr(at, size), on_line));
    REQUIRE(parts.end(on_line));
    CHECK(lines == Strings{"four", "six", "end"});
    CHECK(heads == Strings{"five", "a lo", "last"});
    CHECK(sizes == std::vector<std::size_t>{5, 13, 8});
  }
}

TEST_CASE("a line without an end is refused at last, also by a reader that takes long ones") {
  Lines parts(4, [](std::string_view, std::size_t) { return true; });
  const auto on_line = [](std::string_view) { return true; };
  const std::string piece(Lines::kMostSkipped / 4 + 2, 'x');
  for (int i = 0; i < 3; ++i) REQUIRE(parts.feed(piece, on_line));
  const auto refused = parts.feed(piece, on_line);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().is(std::errc::message_size));
}

TEST_CASE("a reader that stops gets no further line") {
  Collected all;
  all.most = 1;
  auto ended = all.parts.feed("one\ntwo\n", all.take());
  REQUIRE_FALSE(ended);
  CHECK(ended.error().is(std::errc::operation_canceled));
  CHECK(all.lines == Strings{"one"});
}
