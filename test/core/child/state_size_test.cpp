// SPDX-License-Identifier: Apache-2.0
#include "core/child/state_size.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/base/unique_fd.hpp"
#include "core/child/unnamed_files.hpp"
#include "test/core/child/confined.hpp"

using namespace koord;
using namespace koord::child;

namespace {

constexpr std::uint64_t kMuch = 1 << 30;

struct State : test::Scratch {
  std::string at(const std::string& name) const { return path() + "/" + name; }
  void write(const std::string& name, std::size_t bytes = 0) const {
    std::ofstream(at(name)) << std::string(bytes, 'x');
  }
  std::uint64_t size(std::uint64_t enough = kMuch) const { return state_size(path(), ::geteuid(), enough).value_or(0); }
};

}  // namespace

TEST_CASE_FIXTURE(State, "the size of a state directory includes the disk usage of its files and subdirectories") {
  CHECK(size() == 0);
  write("a", 100'000);
  const std::uint64_t one = size();
  CHECK(one >= 100'000);
  std::filesystem::create_directories(at("b/c"));
  write("b/c/d", 100'000);
  CHECK(size() >= one + 100'000 + 2 * 4096);
}

TEST_CASE_FIXTURE(State, "an empty file, a link and a hole count as 4 KiB") {
  write("empty");
  CHECK(size() == 4096);
  std::filesystem::create_hard_link(at("empty"), at("link"));
  std::filesystem::create_symlink("/usr", at("elsewhere"));
  write("hole");
  std::filesystem::resize_file(at("hole"), std::uintmax_t{1} << 40);
  CHECK(size() == 4 * 4096);
}

TEST_CASE_FIXTURE(State, "counting stops after enough bytes") {
  for (int i = 0; i < 100; ++i) write("file-" + std::to_string(i));
  CHECK(size(10 * 4096) == 11 * 4096);
}

TEST_CASE_FIXTURE(State, "a directory that is nested too deep cannot be measured") {
  std::string path = this->path();
  for (int i = 0; i < 40; ++i) std::filesystem::create_directory(path += "/d");
  const auto size = state_size(this->path(), ::geteuid(), kMuch);
  REQUIRE_FALSE(size);
  CHECK(size.error().message() == "directories nested deeper than 32");
}

TEST_CASE_FIXTURE(State, "a missing directory has no bytes") {
  CHECK(state_size(at("missing"), ::geteuid(), kMuch).value_or(1) == 0);
}

TEST_CASE("a plugin that was given no state directory has no bytes") {
  const test::Scratch directory;
  const Layers layers({.state_directory = directory.path(), .first_uid = test::kFirstUid, .uids = 10});
  CHECK(layers.state_size("com.example.none", {}, kMuch).value_or(1) == 0);
}

TEST_CASE_FIXTURE(State, "an open file without a name counts once, one with a name and memory do not") {
  const auto device = [&] {
    struct stat about;
    REQUIRE(::stat(path().c_str(), &about) == 0);
    return about.st_dev;
  }();
  const std::vector<std::int32_t> self{::getpid()};
  CHECK(unnamed_size(self, device, kMuch) == 0);
  const auto open_with = [&](const char* name, std::size_t bytes) {
    UniqueFd fd(::open(at(name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    REQUIRE(::write(fd.get(), std::string(bytes, 'x').data(), bytes) == static_cast<ssize_t>(bytes));
    return fd;
  };
  const UniqueFd named = open_with("named", 100'000), unnamed = open_with("unnamed", 200'000),
                 same(::dup(unnamed.get())), memory(::memfd_create("test", MFD_CLOEXEC));
  REQUIRE(::ftruncate(memory.get(), 1 << 20) == 0);
  CHECK(unnamed_size(self, device, kMuch) == 0);
  REQUIRE(::unlink(at("unnamed").c_str()) == 0);
  const std::uint64_t size = unnamed_size(self, device, kMuch);
  CHECK(size >= 200'000);
  CHECK(size < 400'000);
  CHECK(unnamed_size({::getpid(), ::getpid()}, device, kMuch) == size);
  CHECK(unnamed_size(self, device + 1, kMuch) == 0);
  CHECK(unnamed_size({1 << 30}, device, kMuch) == 0);  // the process has ended
}

TEST_CASE("the processes of a user are found without a cgroup") {
  const std::vector<std::int32_t> own = processes_of_user(::getuid());
  CHECK(std::find(own.begin(), own.end(), ::getpid()) != own.end());
  CHECK(processes_of_user(4'000'000'000).empty());
}
