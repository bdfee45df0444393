// SPDX-License-Identifier: Apache-2.0
#include "core/http/location.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace koord;

namespace {

std::string shown(std::string_view text) {
  Result<http::Location> location = http::parse_location(text);
  return location ? location->endpoint + " " + location->target + " " + location->host : location.error().message();
}

bool fails(std::string_view text, std::string_view why) { return shown(text).find(why) != std::string::npos; }

}  // namespace

TEST_CASE("an http location has a host, perhaps a port, perhaps a target") {
  CHECK(shown("http://127.0.0.1:9100/metrics") == "127.0.0.1:9100 /metrics 127.0.0.1:9100");
  CHECK(shown("http://[::1]:9100/metrics?collect=cpu&x=a:b") == "[::1]:9100 /metrics?collect=cpu&x=a:b [::1]:9100");
  CHECK(shown("http://localhost") == "localhost:80 / localhost");
  CHECK(shown("http://[::1]/m") == "[::1]:80 /m [::1]");
}

TEST_CASE("an https location is the same with another port, and has the server name of the certificate") {
  CHECK(shown("https://127.0.0.1/metrics") == "127.0.0.1:443 /metrics 127.0.0.1");
  auto server_of = [](std::string_view text) { return http::parse_location(text)->server_name; };
  CHECK(http::parse_location("https://127.0.0.1/")->tls);
  CHECK_FALSE(http::parse_location("http://127.0.0.1/")->tls);
  CHECK(server_of("https://127.0.0.1:10250/") == "127.0.0.1");
  CHECK(server_of("https://[::1]:10250/") == "::1");
  CHECK(server_of("https://localhost") == "localhost");
}

TEST_CASE("a unix location has the path of a socket and a target behind a colon") {
  CHECK(shown("unix:/run/x.sock:/metrics") == "/run/x.sock /metrics localhost");
  CHECK(shown("unix:/run/x.sock") == "/run/x.sock / localhost");
  CHECK(shown("unix:/run/a:b.sock:/m?u=x:/y") == "/run/a:b.sock /m?u=x:/y localhost");
}

TEST_CASE("an invalid location is reported with the found and the expected text") {
  CHECK(
      shown("ftp://127.0.0.1/") ==
      "'ftp://127.0.0.1/': found another scheme, expected 'http://127.0.0.1:9100/metrics', 'https://…' or 'unix:/run/x.sock:/metrics'");
  CHECK(fails("", "found another scheme"));
  CHECK(fails("127.0.0.1:9100", "found another scheme"));
  CHECK(fails("http://example.org/metrics", "names are not looked up"));
  CHECK(fails("http:///metrics", "found no host"));
  CHECK(fails("http://127.0.0.1:99999/", "found no port from 1 to 65535 behind the host"));
  CHECK(fails("http://user@127.0.0.1/", "found no address"));
  CHECK(fails("http://127.0.0.1?x", "found a path that does not begin with '/'"));
  CHECK(fails("unix:run/x.sock:/metrics", "found no absolute path"));
  CHECK(fails("unix:/" + std::string(200, 'x') + ":/m", "too long for a socket"));
}

TEST_CASE("a target cannot smuggle anything into the request") {
  for (const char* target : {"/a b", "/a\r\nX: y", "/a\n", "/a#b", "/\xC3\xBC"}) {
    for (const char* server : {"http://127.0.0.1:1", "https://[::1]", "unix:/run/x.sock:"})
      CHECK_MESSAGE(fails(std::string(server) + target, "found a character that a path cannot contain"),
                    server << target);
  }
}
