// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/listener.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "core/http/socket_address.hpp"
#include "test/core/store/temporary_directory.hpp"

using namespace koord;
using namespace koord::criproxy;

namespace {

UniqueFd connect_to(const std::string& path) {
  const auto address = http::unix_address(path);
  REQUIRE(address);
  UniqueFd client(::socket(AF_UNIX, SOCK_STREAM, 0));
  REQUIRE(::connect(client.get(), address->get(), address->length) == 0);
  return client;
}

}  // namespace

TEST_CASE("the newest listener gets new connections, and an older one keeps what waits for it") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path().string() + "/run/cri.sock";
  const auto first = replace_socket(path);
  REQUIRE(first);
  const UniqueFd client = connect_to(path);
  const auto second = replace_socket(path);
  REQUIRE(second);
  const UniqueFd later = connect_to(path);
  CHECK(accept_connection(first->get()));
  CHECK_FALSE(accept_connection(first->get()));
  CHECK(accept_connection(second->get()));
}

TEST_CASE("a socket that a killed proxy left is replaced, also in the middle of a replacement") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path().string() + "/cri.sock";
  REQUIRE(replace_socket(path));
  REQUIRE(replace_socket(path + ".new"));
  const auto listener = replace_socket(path);
  REQUIRE(listener);
  connect_to(path);
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0660);
}

TEST_CASE("a path that is too long for a socket is an error") {
  const test::TemporaryDirectory directory;
  CHECK_FALSE(replace_socket(directory.path().string() + "/" + std::string(200, 'a')));
}

TEST_CASE("without descriptors of systemd nothing is inherited") { CHECK_FALSE(inherited_socket()); }
