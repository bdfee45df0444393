// SPDX-License-Identifier: Apache-2.0
#include "core/http/gzip.hpp"

#include <doctest/doctest.h>

using namespace koord::http;

TEST_CASE("packed data unpacks to the same") {
  for (std::size_t size : {0u, 1u, 1000u, 1000000u}) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>('a' + i * i % 26);
    CHECK(*gunzip(*gzip(text), size) == text);
  }
}

TEST_CASE("data that unpacks to too much is refused") {
  CHECK(gunzip(*gzip(std::string(1 << 20, 'a')), 1000).error().message() == "unpacks to more than 1000 bytes");
}

TEST_CASE("broken or cut data is refused") {
  std::string packed = *gzip(std::string(1000, 'a'));
  CHECK_FALSE(gunzip(packed.substr(0, packed.size() - 4), 2000));
  CHECK_FALSE(gunzip("no gzip at all", 2000));
  CHECK_FALSE(gunzip("", 2000));
}

TEST_CASE("gzip is taken when it is named, or anything is, and not at weight 0") {
  for (const char* yes : {"gzip", "deflate, gzip;q=0.5, br", " gzip ", "*", "gzip;q=1.0,*;q=0"})
    CHECK(accepts_gzip(yes));
  for (const char* no : {"", "identity", "gzip;q=0", "gzip;q=0.000, deflate", "*;q=0", "xgzip", "gzip;q=0, *", ",;,"})
    CHECK_FALSE(accepts_gzip(no));
}
