// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include "core/base/file.hpp"
#include "core/host/root_file.hpp"
#include "test/core/host/service_fixture.hpp"

using namespace koord;
using namespace koord::test;

namespace {

struct Files : OnHost<koord_svc_fs> {
  Files()
      : OnHost("koord.fs/1", {{"proc/stat", "cpu 1 2\n"},
                              {"proc/empty", ""},
                              {"proc/dir/file", "in it\n"},
                              {"sys/secret", "outside of proc\n"}}) {
    node.link("proc/inner", "dir/file");
    node.link("proc/outer", "../sys/secret");
    node.link("proc/absolute", node.path("sys/secret"));
  }

  koord_status read(std::string_view relative, std::string* text = nullptr) {
    char buf[64];
    std::uint64_t need = 0;
    koord_status status = service->read(abi, KOORD_ROOT_PROC, str(relative), buf, sizeof buf, &need);
    if (text && status == KOORD_OK) text->assign(buf, need);
    return status;
  }
};

constexpr const char* kLeadsOut[] = {"../sys/secret",        "/etc/passwd", "outer",    "absolute",
                                     "dir/../../sys/secret", "..",          "dir/../.."};

}  // namespace

TEST_CASE_FIXTURE(Files, "a root is where the node has it") {
  char buf[256];
  std::uint64_t need = 0;
  REQUIRE(service->path(abi, KOORD_ROOT_CGROUP, buf, sizeof buf, &need) == KOORD_OK);
  CHECK(std::string(buf, need) == node.roots().cgroup);
  CHECK(service->path(abi, 99, buf, sizeof buf, &need) == KOORD_E_INVALID);
}

TEST_CASE_FIXTURE(Files, "a file below a root is read whole") {
  std::string text;
  CHECK(read("stat", &text) == KOORD_OK);
  CHECK(text == "cpu 1 2\n");
  CHECK(read("dir/../stat", &text) == KOORD_OK);
  CHECK(read("empty", &text) == KOORD_OK);
  CHECK(text.empty());
}

TEST_CASE_FIXTURE(Files, "a link that stays below the root is followed") {
  std::string text;
  CHECK(read("inner", &text) == KOORD_OK);
  CHECK(text == "in it\n");
}

TEST_CASE_FIXTURE(Files, "nothing leads out of the root") {
  for (const char* relative : kLeadsOut) {
    CAPTURE(relative);
    CHECK(read(relative) == KOORD_E_INVALID);
    CHECK(host.last_error().find("leads out of") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(Files, "nothing leads out of the root on a kernel without openat2 either") {
  const std::string proc = node.roots().proc;
  for (const char* relative : kLeadsOut) {
    CAPTURE(relative);
    CHECK_FALSE(host::open_below_by_path(proc, relative));
  }
  CHECK(host::open_below_by_path(proc, "inner"));
  CHECK(host::open_below_by_path(proc, "dir/../stat"));
}

TEST_CASE("a magic link of the real /proc does not lead out") {
  CHECK_FALSE(host::open_below("/proc", "self/root/etc/passwd"));
  CHECK(host::open_below("/proc", "self/status"));
}

TEST_CASE_FIXTURE(Files, "a file without a writer at its other end does not block the reader") {
  REQUIRE(::mkfifo(node.path("proc/fifo").c_str(), 0600) == 0);
  std::string text = "x";
  CHECK(read("fifo", &text) == KOORD_OK);
  CHECK(text.empty());
}

TEST_CASE_FIXTURE(Files, "a file that is not there is not found, with its path in the text") {
  CHECK(read("nothing") == KOORD_E_NOT_FOUND);
  CHECK(host.last_error().find(node.roots().proc + "/nothing") != std::string::npos);
}

TEST_CASE_FIXTURE(Files, "a content that does not fit says its size and writes nothing") {
  char buf[2] = {'-', '-'};
  std::uint64_t need = 0;
  CHECK(service->read(abi, KOORD_ROOT_PROC, str("stat"), buf, 2, &need) == KOORD_E_TOO_SMALL);
  CHECK(need == 8);
  CHECK(buf[0] == '-');
}

TEST_CASE_FIXTURE(Files, "NULL and names with a NUL are refused") {
  std::uint64_t need = 0;
  char buf[8];
  CHECK(service->read(abi, KOORD_ROOT_PROC, {nullptr, 4}, buf, 8, &need) == KOORD_E_INVALID);
  CHECK(service->read(abi, KOORD_ROOT_PROC, str({"stat\0x", 6}), buf, 8, &need) == KOORD_E_INVALID);
  CHECK(service->read(abi, KOORD_ROOT_PROC, str(""), buf, 8, &need) == KOORD_E_INVALID);
  CHECK(service->read(abi, KOORD_ROOT_PROC, str("stat"), nullptr, 8, &need) == KOORD_E_INVALID);
  CHECK(service->read(abi, KOORD_ROOT_PROC, str("stat"), buf, 8, nullptr) == KOORD_E_INVALID);
}
