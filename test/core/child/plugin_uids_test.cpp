// SPDX-License-Identifier: Apache-2.0
// Users and state directories of plugins. Needs root.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <utility>

#include "confined.hpp"

using namespace koord;
using test::kFirstUid;
using test::Scratch;

TEST_CASE("the users of plugins are those of their directories, in every session") {
  Scratch directory;
  const std::string state = directory.path() + "/state";
  {
    child::PluginUids uids(state, kFirstUid, 3);
    CHECK(uids.user_of("a")->uid == kFirstUid);
    CHECK(uids.user_of("b")->uid == kFirstUid + 1);
    CHECK(uids.user_of("a")->uid == kFirstUid);
    CHECK(uids.user_of("a")->directory == state + "/a");
  }
  child::PluginUids later(state, kFirstUid, 3);
  CHECK(later.user_of("c")->uid == kFirstUid + 2);
  CHECK(later.user_of("b")->uid == kFirstUid + 1);
  auto none_left = later.user_of("d");
  REQUIRE_FALSE(none_left);
  CHECK(none_left.error().text.find("all 3 users of plugins.uids are taken") != std::string::npos);
}

TEST_CASE("another user's directory in the place of a plugin's own is renamed") {
  Scratch directory;
  const std::string state = directory.path() + "/state";
  std::filesystem::create_directories(state + "/a");
  std::filesystem::create_directory_symlink("/etc", state + "/b");
  child::PluginUids uids(state, kFirstUid, 3);
  for (const char* id : {"a", "b"}) {
    auto user = uids.user_of(id);
    REQUIRE(user);
    struct stat about;
    REQUIRE(::lstat(user->directory.c_str(), &about) == 0);
    CHECK(S_ISDIR(about.st_mode));
    CHECK(about.st_uid == user->uid);
    CHECK(std::filesystem::exists(std::filesystem::symlink_status(state + "/" + id + "~1")));
  }
}

TEST_CASE(
    "a parent directory that all users may write is closed to plugins, unless its sticky bit protects its files") {
  for (const auto& [before, after] : {std::pair<mode_t, mode_t>{0777, 0775}, {01777, 01777}, {0755, 0755}}) {
    Scratch scratch;
    const std::string store = scratch.path() + "/store";
    std::filesystem::create_directory(store);
    REQUIRE(::chmod(store.c_str(), before) == 0);
    REQUIRE(child::PluginUids(store + "/plugin-state", kFirstUid, 3).user_of("a"));
    struct stat about;
    REQUIRE(::stat(store.c_str(), &about) == 0);
    CHECK((about.st_mode & 07777) == after);
  }
}

TEST_CASE("without a state directory plugins have users for the session, and a reason") {
  child::PluginUids uids("", kFirstUid, 3);
  auto user = uids.user_of("a");
  REQUIRE(user);
  CHECK(user->uid == kFirstUid);
  CHECK(user->directory.empty());
  CHECK(user->problem.find("plugins.stateDirectory") != std::string::npos);
  CHECK(uids.user_of("a")->uid == kFirstUid);
}
