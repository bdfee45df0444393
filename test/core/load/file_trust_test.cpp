// SPDX-License-Identifier: Apache-2.0
#include "core/load/file_trust.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "plugin_shelf.hpp"

using namespace koord;
using namespace koord::load;
using koord::test::PluginShelf;

namespace {

std::string refusal(const Result<std::string>& path) { return path ? "trusted" : path.error().message(); }

}  // namespace

TEST_CASE("a file of our own in a directory of our own is trusted") {
  PluginShelf shelf{"puppet"};
  CHECK(check_trusted_directory(shelf.path()).value_or("") == shelf.path());
  CHECK(check_trusted_file(shelf.path(), shelf.file("puppet")).value_or("") == shelf.file("puppet"));
}

TEST_CASE("a world-writable file is refused with its mode") {
  PluginShelf shelf{"puppet"};
  ::chmod(shelf.file("puppet").c_str(), 0777);
  CHECK(refusal(check_trusted_file(shelf.path(), shelf.file("puppet"))) ==
        "'" + shelf.file("puppet") + "': expected no write permission for group and others, found mode 0777");
}

TEST_CASE("a plugin directory that others can write is refused, sticky or not") {
  PluginShelf shelf;
  ::chmod(shelf.path().c_str(), 01777);
  CHECK(refusal(check_trusted_directory(shelf.path())).ends_with("found mode 1777"));
}

TEST_CASE("a directory below one that others can write is refused unless that is sticky") {
  PluginShelf shelf;
  std::string inner = shelf.path() + "/plugins";
  std::filesystem::create_directory(inner);
  ::chmod(shelf.path().c_str(), 0777);
  CHECK(refusal(check_trusted_directory(inner)).ends_with("found mode 0777"));
  ::chmod(shelf.path().c_str(), 01777);
  CHECK(check_trusted_directory(inner));
}

TEST_CASE("a file of another user is refused with both owners") {
  PluginShelf shelf{"puppet"};
  if (::chown(shelf.file("puppet").c_str(), 12345, 12345) != 0) {
    MESSAGE("SKIPPED: only root can give a file away");
    return;
  }
  CHECK(refusal(check_trusted_file(shelf.path(), shelf.file("puppet")))
            .ends_with("expected owner uid 0, found uid 12345"));
}

TEST_CASE("a link to a file of its directory is followed, a link out of it is refused") {
  PluginShelf shelf{"puppet"};
  PluginShelf elsewhere{"second"};
  std::filesystem::create_symlink("puppet.so", shelf.file("link"));
  CHECK(check_trusted_file(shelf.path(), shelf.file("link")).value_or("") == shelf.file("puppet"));
  std::filesystem::create_symlink(elsewhere.file("second"), shelf.file("out"));
  CHECK(refusal(check_trusted_file(shelf.path(), shelf.file("out")))
            .ends_with("found a link to '" + elsewhere.file("second") + "'"));
}

TEST_CASE("a path that is not a regular file, not absolute or missing is refused") {
  PluginShelf shelf;
  std::filesystem::create_directory(shelf.file("folder"));
  CHECK(refusal(check_trusted_file(shelf.path(), shelf.file("folder")))
            .ends_with("expected a regular file, found another kind of file"));
  CHECK(refusal(check_trusted_directory("plugins")) == "expected an absolute path, found 'plugins'");
  CHECK(refusal(check_trusted_directory("/no/such/directory")) ==
        "cannot resolve '/no/such/directory': No such file or directory");
}
