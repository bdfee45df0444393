// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include "core/base/file.hpp"
#include "core/service/root_file.hpp"
#include "test/core/service/service_fixture.hpp"

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
    CHECK_FALSE(service::open_below_by_path(proc, relative));
  }
  CHECK(service::open_below_by_path(proc, "inner"));
  CHECK(service::open_below_by_path(proc, "dir/../stat"));
}

TEST_CASE("a magic link of the real /proc does not lead out") {
  CHECK_FALSE(service::open_below("/proc", "self/root/etc/passwd"));
  CHECK(service::open_below("/proc", "self/status"));
}

TEST_CASE_FIXTURE(Files, "a FIFO does not block the reader and is refused") {
  REQUIRE(::mkfifo(node.path("proc/fifo").c_str(), 0600) == 0);
  CHECK(read("fifo") == KOORD_E_INVALID);
  CHECK(host.last_error() == "relative is 'fifo', expected a regular file");
}

TEST_CASE_FIXTURE(Files, "a file without an end is read up to a limit and refused") {
  const UniqueFd big = open_at(AT_FDCWD, node.path("proc/big"), O_CREAT | O_RDWR).value();
  REQUIRE(::ftruncate(big.get(), std::int64_t{1} << 40) == 0);  // a sparse file
  CHECK(read("big") != KOORD_OK);
  CHECK(host.last_error().find("big") != std::string::npos);
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

namespace {

// A third-party plugin with grants for these files.
struct ForeignFiles : Files {
  std::unique_ptr<service::PluginContext> other;
  std::string why;

  void grant(std::vector<std::string> files = {}) {
    other.reset();
    other = std::make_unique<service::PluginContext>(
        host.services(), "com.acme.x", std::set<std::string>{"koord.fs/1"}, "{}",
        service::Rights{.host_plugin = false, .files = std::move(files), .cgroups = {}});
  }
  koord_status read_as_other(std::uint32_t root, std::string_view relative) {
    char buf[256];
    std::uint64_t need = 0;
    const koord_status status = service->read(other->host(), root, str(relative), buf, sizeof buf, &need);
    const auto error = other->take_error();
    why = error ? error->text : "";
    return status;
  }
};

}  // namespace

TEST_CASE_FIXTURE(ForeignFiles, "a third party's plugin reads the files that are for every plugin") {
  grant();
  node.write("proc/loadavg", "1 2 3\n");
  node.write("proc/12/stat", "12 (x)\n");
  node.write("proc/12/task/13/schedstat", "1 2 3\n");
  node.write("proc/12/net/tcp", "sl\n");
  node.write("proc/sys/fs/file-nr", "1 0 2\n");
  node.write("proc/pressure/cpu", "some\n");
  node.write("sys/devices/system/cpu/online", "0-3\n");
  node.write("cgroup/a/cpu.max", "max 100000\n");
  struct {
    std::uint32_t root;
    const char* file;
  } const rows[] = {{KOORD_ROOT_PROC, "loadavg"},
                    {KOORD_ROOT_PROC, "12/stat"},
                    {KOORD_ROOT_PROC, "12/task/13/schedstat"},
                    {KOORD_ROOT_PROC, "12/net/tcp"},
                    {KOORD_ROOT_PROC, "sys/fs/file-nr"},
                    {KOORD_ROOT_PROC, "pressure/cpu"},
                    {KOORD_ROOT_SYS, "devices/system/cpu/online"},
                    {KOORD_ROOT_CGROUP, "a/cpu.max"}};
  for (const auto& row : rows) {
    CAPTURE(row.file);
    CHECK(read_as_other(row.root, row.file) == KOORD_OK);
    CHECK(why.empty());
  }
}

TEST_CASE_FIXTURE(ForeignFiles,
                  "memory, files and secrets of processes and the kernel are never read for a third party") {
  for (const bool granted : {false, true}) {
    grant(granted ? std::vector<std::string>{"proc/**"} : std::vector<std::string>{});
    for (const char* file : {"1/environ",
                             "self/environ",
                             "self/maps",
                             "self/status",
                             "thread-self/status",
                             "1/maps",
                             "1/smaps",
                             "1/smaps_rollup",
                             "1/mem",
                             "1/fd/3",
                             "1/fdinfo/3",
                             "1/root/etc/passwd",
                             "1/cwd/x",
                             "1/exe",
                             "1/map_files/x",
                             "1/pagemap",
                             "1/stack",
                             "1/syscall",
                             "1/auxv",
                             "1/task/1/environ",
                             "1/task/1/mem",
                             "kcore",
                             "kmem",
                             "kallsyms",
                             "kmsg",
                             "keys",
                             "1/ns/net",
                             "sys/net/ipv4/tcp_fastopen_key"}) {
      CAPTURE(file);
      CHECK(read_as_other(KOORD_ROOT_PROC, file) == KOORD_E_DENIED);
      CHECK(why.starts_with("'proc/" + std::string(file) + "' is never read for a plugin"));
    }
  }
}

TEST_CASE_FIXTURE(ForeignFiles, "any other file needs a grant, which the refusal names") {
  grant();
  node.write("proc/1/io", "rchar: 1\n");
  node.write("run/acme/state.json", "{}");
  CHECK(read_as_other(KOORD_ROOT_PROC, "1/io") == KOORD_E_DENIED);
  CHECK(
      why ==
      "'proc/1/io' is none of the files that every plugin may read; plugins.settings.com.acme.x.files: [proc/1/io] allows it");
  CHECK(read_as_other(KOORD_ROOT_RUN, "acme/state.json") == KOORD_E_DENIED);
  CHECK(read_as_other(KOORD_ROOT_SYS, "kernel/debug/x") == KOORD_E_DENIED);
  grant({"proc/*/io", "run/acme/**"});
  CHECK(read_as_other(KOORD_ROOT_PROC, "1/io") == KOORD_OK);
  CHECK(read_as_other(KOORD_ROOT_RUN, "acme/state.json") == KOORD_OK);
  CHECK(read_as_other(KOORD_ROOT_RUN, "other/state.json") == KOORD_E_DENIED);
}

TEST_CASE_FIXTURE(ForeignFiles, "a file that not every user may read needs a grant, whatever its name") {
  node.write("proc/slow/x", "");
  node.write("proc/meminfo", "MemTotal: 1 kB\n");
  REQUIRE(::chmod(node.path("proc/meminfo").c_str(), 0600) == 0);
  grant();
  CHECK(read_as_other(KOORD_ROOT_PROC, "meminfo") == KOORD_E_DENIED);
  CHECK(why.find("files: [proc/meminfo] allows it") != std::string::npos);
  grant({"proc/meminfo"});
  CHECK(read_as_other(KOORD_ROOT_PROC, "meminfo") == KOORD_OK);
}

TEST_CASE_FIXTURE(ForeignFiles, "a link is followed for a third party where only the kernel makes links") {
  node.write("sys/devices/pci0/eth0/mtu", "1500\n");
  node.link("sys/class/net", "../devices/pci0");
  node.write("run/acme/secret", "x");
  node.link("run/acme/link", "secret");
  node.write("cgroup/a/cpu.max", "max\n");
  node.link("cgroup/b", "a");
  grant({"run/acme/**"});
  CHECK(read_as_other(KOORD_ROOT_SYS, "class/net/eth0/mtu") == KOORD_OK);
  CHECK(read_as_other(KOORD_ROOT_RUN, "acme/link") == KOORD_E_INVALID);
  CHECK(read_as_other(KOORD_ROOT_CGROUP, "b/cpu.max") == KOORD_E_INVALID);
  CHECK(why.find("leads out of") != std::string::npos);
  CHECK_FALSE(service::open_below_by_path(node.path("cgroup"), "b/cpu.max", service::Links::refused));
}

TEST_CASE_FIXTURE(ForeignFiles, "a path with '..', '.' or an empty part is no path for a third party") {
  grant();
  for (const char* file : {"../sys/x", "loadavg/../stat", "./stat", "1//stat"}) {
    CAPTURE(file);
    CHECK(read_as_other(KOORD_ROOT_PROC, file) == KOORD_E_INVALID);
  }
}
