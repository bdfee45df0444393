// SPDX-License-Identifier: Apache-2.0
#include "core/child/wire.hpp"

#include <doctest/doctest.h>

using namespace koord::child;

TEST_CASE("packed values are read in order") {
  Packer packer;
  packer.add(std::uint32_t{7}).add(-2.5).add(std::string_view("text")).add(std::string_view());
  Unpacker unpacker(packer.bytes());
  CHECK(unpacker.number<std::uint32_t>() == 7);
  CHECK(unpacker.number<double>() == -2.5);
  CHECK(unpacker.text() == "text");
  CHECK(unpacker.text().empty());
  CHECK(unpacker.complete());
}

TEST_CASE("a message that ends early is read as zeros, and is not complete") {
  Packer packer;
  packer.add(std::uint64_t{0x0102030405060708});
  for (std::size_t size = 0; size < 8; ++size) {
    CAPTURE(size);
    Unpacker unpacker(std::string_view(packer.bytes()).substr(0, size));
    CHECK(unpacker.number<std::uint64_t>() == 0);
    CHECK_FALSE(unpacker.ok());
    CHECK(unpacker.number<std::uint8_t>() == 0);
  }
}

TEST_CASE("a length beyond the message is no text") {
  Packer packer;
  packer.add(~std::uint64_t{0}).add(std::string_view("rest"));
  Unpacker unpacker(packer.bytes());
  CHECK(unpacker.text().empty());
  CHECK_FALSE(unpacker.ok());
}

TEST_CASE("a count that the message cannot hold is invalid") {
  Packer packer;
  packer.add(std::uint32_t{1'000'000}).add(std::uint64_t{1});
  Unpacker unpacker(packer.bytes());
  CHECK(unpacker.count(8) == 0);
  CHECK_FALSE(unpacker.ok());
}

TEST_CASE("remaining bytes are reported") {
  Packer packer;
  packer.add(std::uint32_t{1}).add(std::uint32_t{2});
  Unpacker unpacker(packer.bytes());
  unpacker.number<std::uint32_t>();
  CHECK(unpacker.ok());
  CHECK_FALSE(unpacker.complete());
}
