// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/fixture.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "core/workshop/node_tree.hpp"
#include "core/workshop/recorder.hpp"

using namespace koord;
using namespace koord::workshop;
using namespace std::chrono_literals;

namespace {

NodeTree small_node() {
  return NodeTree({{"proc/stat", "cpu 1 2 3 4\n"},
                   {"proc/kcore", "not for collectors"},
                   {"sys/devices/system/cpu/online", "0-1\n"},
                   {"cgroup/cpu,cpuacct/kubepods/cpuacct.usage", "100\n"},
                   {"cgroup/memory/kubepods/pod1/memory.usage_in_bytes", "4096\n"}});
}

// Records frames. `change` changes the node before each frame.
Fixture record_frames(NodeTree& node, std::size_t frames, const std::function<void(std::size_t frame)>& change) {
  ManualClock clock;
  std::size_t next = 1;
  auto wait = [&](Duration time) {
    clock.advance(time);
    change(next++);
  };
  Recording recording{.node_name = "here", .frames = frames, .interval = 1s, .state = {.pods = R"({"items": []})"}};
  return *record(node.roots(), clock, recording, wait);
}

std::string temporary_file(const char* name) {
  return (std::filesystem::temp_directory_path() / (std::string("koord-test-") + std::to_string(::getpid()) + name))
      .string();
}

// Returns a tar file with these entries.
std::string tar_of(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string bytes(1 << 20, '\0');
  std::size_t used = 0;
  archive* out = ::archive_write_new();
  ::archive_write_set_format_ustar(out);
  ::archive_write_open_memory(out, bytes.data(), bytes.size(), &used);
  for (const auto& [name, content] : entries) {
    archive_entry* entry = ::archive_entry_new();
    ::archive_entry_set_pathname(entry, name.c_str());
    ::archive_entry_set_perm(entry, 0644);
    if (content.starts_with("->")) {
      ::archive_entry_set_filetype(entry, AE_IFLNK);
      ::archive_entry_set_symlink(entry, content.c_str() + 2);
    } else {
      ::archive_entry_set_filetype(entry, AE_IFREG);
      ::archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    }
    ::archive_write_header(out, entry);
    if (!content.starts_with("->")) ::archive_write_data(out, content.data(), content.size());
    ::archive_entry_free(entry);
  }
  ::archive_write_close(out);
  ::archive_write_free(out);
  bytes.resize(used);
  return bytes;
}

constexpr const char* kAbout = R"({"format":"koord-fixture/1","node":"n","startNs":1,"framesNs":[0,5]})";

std::string refusal(const std::vector<std::pair<std::string, std::string>>& entries) {
  Result<Fixture> fixture = parse_fixture(tar_of(entries));
  return fixture ? "" : fixture.error().message();
}

}  // namespace

TEST_CASE("a recording has the files of cgroups that services read, and all of them on demand") {
  NodeTree node({{"cgroup/cgroup.controllers", "cpu memory\n"},
                 {"cgroup/a/cgroup.procs", ""},
                 {"cgroup/a/memory.current", "1\n"},
                 {"cgroup/a/memory.high", "max\n"},
                 {"cgroup/a/io.stat", "8:0 rbytes=1\n"},
                 {"cgroup/a/hugetlb.2MB.current", "0\n"}});
  const Tree some = *read_tree(node.roots());
  for (const char* file :
       {"cgroup/a/cgroup.procs", "cgroup/a/memory.current", "cgroup/a/memory.high", "cgroup/a/io.stat"})
    CHECK(some.contains(file));
  CHECK_FALSE(some.contains("cgroup/a/hugetlb.2MB.current"));
  CHECK(read_tree(node.roots(), {.all_cgroup_files = true})->contains("cgroup/a/hugetlb.2MB.current"));
}

TEST_CASE("a recording has the figures of pods' processes and the network of the first of each, and no command line") {
  NodeTree node({{"cgroup/cgroup.controllers", "cpu memory\n"},
                 {"cgroup/pod1/app/cgroup.procs", "20\n21\n"},
                 {"cgroup/other/cgroup.procs", "30\n"}});
  for (const char* pid : {"1", "20", "21", "30"})
    for (const char* file : {"stat", "status", "net/tcp", "net/sockstat", "environ", "cmdline"})
      node.write(std::string("proc/") + pid + "/" + file, "x\n");
  const Tree tree = *read_tree(node.roots(), {.cgroups = {"pod1", "pod1/app"}});
  for (const char* file : {"proc/20/stat", "proc/21/status", "proc/20/net/tcp", "proc/1/net/sockstat"}) {
    CAPTURE(file);
    CHECK(tree.contains(file));
  }
  for (const char* file :
       {"proc/30/stat", "proc/30/net/tcp", "proc/21/net/tcp", "proc/20/environ", "proc/20/cmdline"}) {
    CAPTURE(file);
    CHECK_FALSE(tree.contains(file));
  }
}

TEST_CASE("a recording has the files that collectors read, and in later frames the changes") {
  NodeTree node = small_node();
  node.link("cgroup/cpu", "cpu,cpuacct");
  Fixture fixture = record_frames(node, 3, [&](std::size_t frame) {
    if (frame == 1) node.write("proc/stat", "cpu 2 2 3 4\n");
    if (frame == 2) node.remove("cgroup/memory/kubepods/pod1");
  });
  REQUIRE(fixture.frames.size() == 3);
  const Tree& first = fixture.frames[0].changed;
  CHECK(first.at("proc/stat").content == "cpu 1 2 3 4\n");
  CHECK(first.at("cgroup/cpu").type == TreeEntry::Type::link);
  CHECK(first.contains("cgroup/memory/kubepods/pod1/memory.usage_in_bytes"));
  CHECK(!first.contains("proc/kcore"));
  CHECK(fixture.frames[1].at == 1s);
  CHECK(fixture.frames[1].changed.size() == 1);
  CHECK(fixture.frames[1].changed.at("proc/stat").content == "cpu 2 2 3 4\n");
  CHECK(fixture.frames[2].gone ==
        std::vector<std::string>{"cgroup/memory/kubepods/pod1", "cgroup/memory/kubepods/pod1/memory.usage_in_bytes"});
}

TEST_CASE("a written fixture is read again, and makes the same node") {
  NodeTree node = small_node();
  const Fixture fixture = record_frames(node, 2, [&](std::size_t) { node.write("proc/stat", "cpu 9 9 9 9\n"); });
  for (const char* name : {".tar", ".tar.gz"}) {
    const std::string path = temporary_file(name);
    REQUIRE(write_fixture(fixture, path));
    Result<Fixture> read = read_fixture(path);
    std::filesystem::remove(path);
    REQUIRE_MESSAGE(read, read.error().message());
    CHECK(read->node_name == "here");
    CHECK(read->start_ns == fixture.start_ns);
    CHECK(read->state.pods == R"({"items": []})");
    NodeTree copy;
    apply(read->frames[0], copy);
    CHECK(*read_file(copy.path("proc/stat")) == "cpu 1 2 3 4\n");
    // A reader with an open file reads the next frame.
    std::ifstream kept(copy.path("proc/stat"));
    apply(read->frames[1], copy);
    std::string line;
    std::getline(kept, line);
    CHECK(line == "cpu 9 9 9 9");
    CHECK(*read_file(copy.path("cgroup/memory/kubepods/pod1/memory.usage_in_bytes")) == "4096\n");
  }
}

TEST_CASE("a file that is not a fixture is refused with what was expected") {
  CHECK(parse_fixture("no tar file at all").error().message().size() > 0);
  CHECK(refusal({{"frames/0/proc/stat", ""}}) == "expected a fixture.json, found none");
  CHECK(refusal({{"fixture.json", "[]"}}) == "fixture.json: expected a mapping, found a list");
  CHECK(refusal({{"fixture.json", R"({"format":"x"})"}}) ==
        "fixture.json: expected the format 'koord-fixture/1', found 'x'");
  CHECK(refusal({{"fixture.json", R"({"format":"koord-fixture/1","startNs":1,"framesNs":[3,2]})"}}) ==
        "fixture.json: expected framesNs that ascend from 0");
  CHECK(refusal({{"fixture.json", kAbout}, {"frames/2/proc/stat", ""}}) == "fixture.json lists 2 frames, found 3");
  CHECK(refusal({{"fixture.json", kAbout}, {"frames/x/proc/stat", ""}})
            .starts_with("'frames/x/proc/stat': expected frames/ and a number"));
}

TEST_CASE("a fixture cannot reach out of its node") {
  for (const char* path : {"frames/0/proc/../../etc/passwd", "frames/0/etc/passwd", "/etc/passwd", "../x"})
    CHECK(refusal({{"fixture.json", kAbout}, {path, "x"}}) != "");
  for (const char* target : {"->/etc", "->../../../etc", "->cpu/../../x"})
    CHECK(refusal({{"fixture.json", kAbout}, {"frames/0/cgroup/cpu", target}}) ==
          "'frames/0/cgroup/cpu': expected a link to a file in the same directory");
  CHECK(refusal({{"fixture.json", kAbout}, {"frames/1.gone", "proc/../../home\n"}}) ==
        "frames/1.gone: 'proc/../../home' is not a path below proc, sys, cgroup, resctrl or run");
}
