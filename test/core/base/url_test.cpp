// SPDX-License-Identifier: Apache-2.0
#include "core/base/url.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace koord;

namespace {

// Returns "SCHEME|HOST|PORT|TARGET", or the error.
std::string parts_of(std::string_view text) {
  const Result<Url> url = parse_url(text);
  if (!url) return url.error().message();
  return url->scheme + "|" + url->host + "|" + (url->port ? std::to_string(*url->port) : "") + "|" + url->target;
}

}  // namespace

TEST_CASE("a URL has a scheme, a host, perhaps a port and a target") {
  struct Row {
    const char *text, *parts;
  };
  for (const Row& row : {Row{"http://127.0.0.1:9100/metrics", "http|127.0.0.1|9100|/metrics"},
                         Row{"https://api.example.com", "https|api.example.com||"},
                         Row{"https://[fd00::1]:6443/k8s/a/", "https|fd00::1|6443|/k8s/a/"},
                         Row{"http://[::1]/m?x=a:b&y=/", "http|::1||/m?x=a:b&y=/"},
                         Row{"http://a_b-c.d:1/%20", "http|a_b-c.d|1|/%20"}, Row{"http://a/b@c:d", "http|a||/b@c:d"}})
    CHECK(parts_of(row.text) == row.parts);
}

TEST_CASE("the error of a URL says what was found") {
  struct Row {
    const char *text, *error;
  };
  for (const Row& row : {Row{"", "found no scheme"},
                         Row{"api:6443", "found no scheme"},
                         Row{"http:/a", "found no scheme"},
                         Row{"http://", "found no host"},
                         Row{"http:///a", "found no host"},
                         Row{"http://:80", "found no host"},
                         Row{"http://[]", "found no host"},
                         Row{"http://[::1", "found no ']' behind the address"},
                         Row{"http://[a-b]", "found no address or name of a host"},
                         Row{"http://u@a", "found no address or name of a host"},
                         Row{"http://u:p@a", "found no port from 1 to 65535 behind the host"},
                         Row{"http://a b", "found no address or name of a host"},
                         Row{"http://a:", "found no port from 1 to 65535 behind the host"},
                         Row{"http://a:0", "found no port from 1 to 65535 behind the host"},
                         Row{"http://a:65536", "found no port from 1 to 65535 behind the host"},
                         Row{"http://[::1]80", "found no port from 1 to 65535 behind the host"},
                         Row{"http://a?b", "found a path that does not begin with '/'"},
                         Row{"http://a#b", "found a path that does not begin with '/'"},
                         Row{"http://a/b c", "found a character that a path cannot contain"},
                         Row{"http://a/\r\nX: y", "found a character that a path cannot contain"},
                         Row{"http://a/b#c", "found a character that a path cannot contain"},
                         Row{"http://a/\xC3\xBC", "found a character that a path cannot contain"}})
    CHECK_MESSAGE(parts_of(row.text) == row.error, row.text);
}

TEST_CASE("an authority is written as in the header Host") {
  CHECK(parse_url("http://[::1]:80/")->authority() == "[::1]:80");
  CHECK(parse_url("http://[::1]/")->authority() == "[::1]");
  CHECK(parse_url("http://localhost:9100/")->authority() == "localhost:9100");
}

TEST_CASE("an encoded text decodes to itself") {
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  CHECK(*percent_decode(percent_encode(all), true) == all);
  CHECK(percent_encode("a b/\xC3\xA4~.-_") == "a%20b%2F%C3%A4~.-_");
}

TEST_CASE("a plus is a space only if the caller says so") {
  CHECK(*percent_decode("a+b%2b", true) == "a b+");
  CHECK(*percent_decode("a+b%2B", false) == "a+b+");
}

TEST_CASE("a broken escape and a NUL byte are refused") {
  for (std::string_view bad : {std::string_view("%"), std::string_view("%4"), std::string_view("%4g"),
                               std::string_view("%00"), std::string_view("a\0b", 3)})
    CHECK_FALSE_MESSAGE(percent_decode(bad, true), bad);
}
