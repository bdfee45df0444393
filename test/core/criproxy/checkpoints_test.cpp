// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/checkpoints.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>

#include "core/base/file.hpp"
#include "core/criproxy/cri.pb.h"
#include "test/core/store/temporary_directory.hpp"

using namespace koord;
using namespace koord::criproxy;
using Kind = Checkpoints::Kind;

namespace {

struct Folder {
  test::TemporaryDirectory directory;
  std::vector<std::string> problems;

  std::unique_ptr<Checkpoints> open() {
    problems.clear();
    auto opened = Checkpoints::open(path(), problems);
    REQUIRE(opened);
    return *std::move(opened);
  }
  std::string path() const { return directory.path().string() + "/state"; }
  std::string file(const std::string& name) const { return path() + "/containers/" + name; }
  bool has(const std::string& name) const { return std::filesystem::exists(file(name)); }
  void write(const std::string& name, const std::string& text) const {
    REQUIRE(write_file_atomically(file(name), text));
  }
};

wire::Checkpoint with_parent(const std::string& parent) {
  wire::Checkpoint checkpoint;
  checkpoint.mutable_pod()->mutable_linux_part()->set_cgroup_parent(parent);
  checkpoint.mutable_resources()->set_cpu_shares(512);
  return checkpoint;
}

}  // namespace

TEST_CASE("a restarted proxy has the checkpoints of the one before") {
  Folder folder;
  REQUIRE(folder.open()->keep(Kind::container, "c1", with_parent("/kubepods/pod1")));
  const auto again = folder.open();
  CHECK(folder.problems.empty());
  const auto found = again->find(Kind::container, "c1");
  REQUIRE(found);
  CHECK(found->pod().linux_part().cgroup_parent() == "/kubepods/pod1");
  CHECK(found->resources().cpu_shares() == 512);
  CHECK_FALSE(again->find(Kind::pod, "c1"));
}

TEST_CASE("a removed checkpoint is gone from memory and disk") {
  Folder folder;
  const auto checkpoints = folder.open();
  REQUIRE(checkpoints->keep(Kind::container, "c1", with_parent("/a")));
  checkpoints->remove(Kind::container, "c1");
  checkpoints->remove(Kind::container, "never");
  CHECK(checkpoints->ids(Kind::container).empty());
  CHECK_FALSE(folder.has("c1"));
}

TEST_CASE("only the owner may read a checkpoint, which has the environment of a container") {
  Folder folder;
  REQUIRE(folder.open()->keep(Kind::container, "c1", with_parent("/a")));
  struct stat status {};
  REQUIRE(::stat(folder.file("c1").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("a damaged checkpoint is named and set aside, and others are read") {
  Folder folder;
  REQUIRE(folder.open()->keep(Kind::container, "good", with_parent("/a")));
  const std::string text = checkpoint_text(with_parent("/b"));
  std::string flipped = text;
  flipped.back() ^= 1;
  const std::pair<std::string, std::string> files[] = {{"empty", ""},
                                                       {"cut", text.substr(0, text.size() - 1)},
                                                       {"flipped", flipped},
                                                       {"other", "\1\2"},
                                                       {"newer", "koord-cri-proxy 2" + text.substr(17)}};
  for (const auto& [name, content] : files) folder.write(name, content);
  const auto checkpoints = folder.open();
  CHECK(checkpoints->ids(Kind::container) == std::vector<std::string>{"good"});
  CHECK(folder.problems.size() == std::size(files));
  for (const auto& [name, content] : files) {
    const auto& shown = name;
    CAPTURE(shown);
    CHECK_FALSE(folder.has(name));
    CHECK(read_file(folder.file(name + ".damaged")).value() == content);
  }
  CHECK(folder.problems[0].find("'" + folder.file("cut") + "' is damaged: the checksum is wrong") != std::string::npos);
  folder.open();
  CHECK(folder.problems.empty());  // reported once
}

TEST_CASE("a checkpoint with a correct checksum of other content is damaged") {
  const std::string valid = checkpoint_text(wire::Checkpoint{});
  CHECK(read_checkpoint(valid));
  CHECK(read_checkpoint("koord-cri-proxy 1 ff000000\n\xff").error().text == "the content is not a checkpoint");
}

TEST_CASE("a file that was not written to its end by a killed proxy is removed") {
  Folder folder;
  folder.open();
  folder.write("c1.new.123", "half");
  folder.open();
  CHECK(folder.problems.empty());
  CHECK_FALSE(folder.has("c1.new.123"));
}

TEST_CASE("an id that is a path never becomes a file") {
  Folder folder;
  const auto checkpoints = folder.open();
  for (const std::string id : {"", ".", "..", "../../etc/passwd", "a/b", ".hidden", "a b", "a\nb", "x.damaged"}) {
    CAPTURE(id);
    CHECK_FALSE(is_file_name(id));
    CHECK_FALSE(checkpoints->keep(Kind::pod, id, with_parent("/a")));
    checkpoints->remove(Kind::pod, id);
  }
  CHECK_FALSE(is_file_name(std::string(1000, 'a')));
  CHECK(is_file_name("0123456789abcdef"));
}

TEST_CASE("a checkpoint that cannot be written stays in memory") {
  Folder folder;
  const auto checkpoints = folder.open();
  std::filesystem::remove_all(folder.path());
  CHECK_FALSE(checkpoints->keep(Kind::container, "c1", with_parent("/a")));
  CHECK(checkpoints->find(Kind::container, "c1"));
}
