// SPDX-License-Identifier: Apache-2.0
#include "core/hook/nri/mux.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace koord;
using namespace koord::nri;
using namespace std::string_literals;

namespace {

// Collects the bytes of streams 1 and 2.
struct Streams {
  Streams() {
    streams.open(kPluginStream, [this](std::string_view bytes) -> Result<void> {
      plugin += bytes;
      return {};
    });
    streams.open(kRuntimeStream, [this](std::string_view bytes) -> Result<void> {
      runtime += bytes;
      return {};
    });
  }

  Demultiplexer streams;
  std::string plugin, runtime;
};

std::string frame(std::uint32_t id, std::string_view payload) {
  std::string bytes;
  append_frame(bytes, id, payload);
  return bytes;
}

}  // namespace

TEST_CASE("a frame has the stream's id and the length of its payload, both big-endian, in front") {
  CHECK(frame(2, "abc") == "\0\0\0\2\0\0\0\3abc"s);
  CHECK(frame(0x01020304, std::string(0x10203, 'x')).starts_with("\1\2\3\4\0\1\2\3xxx"s));
}

TEST_CASE("frames of two streams are separated, however they are cut") {
  const std::string bytes = frame(1, "first ") + frame(2, "other") + frame(1, "") + frame(1, "second");
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    CAPTURE(piece);
    Streams out;
    for (std::size_t at = 0; at < bytes.size(); at += piece)
      REQUIRE(out.streams.take(std::string_view(bytes).substr(at, piece)));
    CHECK(out.plugin == "first second");
    CHECK(out.runtime == "other");
  }
}

TEST_CASE("a frame of a stream that is not open is dropped, and the next one is read") {
  Streams out;
  REQUIRE(out.streams.take(frame(7, "unknown") + frame(0, "reserved") + frame(1, "known")));
  CHECK(out.plugin == "known");
  CHECK(out.runtime.empty());
  CHECK(out.streams.dropped_frames() == 2);
}

TEST_CASE("a payload is passed on before its whole frame has arrived") {
  Streams out;
  REQUIRE(out.streams.take(frame(1, "half and half").substr(0, kFrameHeader + 4)));
  CHECK(out.plugin == "half");
}

TEST_CASE("a frame that is longer than any runtime sends is an error") {
  CHECK(Streams().streams.take("\0\0\0\1\1\0\0\x0A"s));  // 16 MiB + 10
  const auto refused = Streams().streams.take("\0\0\0\1\1\0\0\x0B"s);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message() == "a frame of stream 1 has 16777227 bytes, expected at most 16777226");
}

TEST_CASE("the error of a stream ends reading") {
  Demultiplexer streams;
  streams.open(1, [](std::string_view) -> Result<void> { return invalid("enough"); });
  CHECK(streams.take(frame(1, "x") + frame(1, "y")).error().message() == "enough");
}
