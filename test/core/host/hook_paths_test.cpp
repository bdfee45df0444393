// SPDX-License-Identifier: Apache-2.0
#include "core/host/hook_paths.hpp"

#include <doctest/doctest.h>

#include <string>

#include "core/host/hook_fields.hpp"

using namespace koord;
using namespace koord::host;

namespace {

// Returns the error of the parser and the check, which must be the same; empty if there is no error.
std::string complaint(std::string_view field, std::string_view value) {
  const Result<void> checked = check_hook_field(field, value);
  return checked ? std::string() : checked.error().message();
}

constexpr const char* kNumbers =
    "\"c MAJOR:MINOR\" or \"b MAJOR:MINOR MODE\" with a major number up to 4095, a minor number up to 1048575 and an "
    "octal mode up to 0777";

}  // namespace

TEST_CASE("a device has a path, a type, two numbers and a mode, 0666 unless given") {
  CHECK(*parse_hook_device("device:/dev/infiniband/rdma_cm", "c 10:58") ==
        HookDevice{"/dev/infiniband/rdma_cm", 'c', 10, 58, 0666});
  CHECK(*parse_hook_device("device:/dev/sda", "b 8:0 640") == HookDevice{"/dev/sda", 'b', 8, 0, 0640});
  CHECK(*parse_hook_device("device:/dev/a", "c 4095:1048575 0777") == HookDevice{"/dev/a", 'c', 4095, 1048575, 0777});
  CHECK(parse_hook_device("device:/dev/a", "c 0:0 0")->mode == 0);
}

TEST_CASE("a device's value of another form names the field and the form") {
  for (const char* value :
       {"",        "c",          "c ",          "c 1",         "c 1:",        "c :1",
        "c 1:2:3", "c -1:2",     "c 1:+2",      "c 4096:0",    "c 0:1048576", "c 18446744073709551616:0",
        "x 1:2",   "C 1:2",      "cc 1:2",      " c 1:2",      "c  1:2",      "c 1:2 ",
        "c 1:2 8", "c 1:2 1000", "c 1:2 07777", "c 1:2 00666", "c 1:2 rw",    "c 1:2 666 x",
        "c 1:2\n"}) {
    CAPTURE(value);
    CHECK(complaint("device:/dev/a", value) == "device:/dev/a is '" + std::string(value) + "', expected " + kNumbers);
  }
  CHECK_FALSE(complaint("device:/dev/a", std::string_view("c 1:2\0", 6)).empty());
  CHECK(complaint("device:/dev/a", std::string(1 << 20, '1')).size() < 400);
}

TEST_CASE("a device is below /dev, by a path that leads nowhere else") {
  for (const std::string& path : {std::string(),
                                  std::string("/"),
                                  std::string("/dev"),
                                  std::string("/dev/"),
                                  std::string("dev/a"),
                                  std::string("/etc/passwd"),
                                  std::string("/dev/../etc/passwd"),
                                  std::string("/dev/a/.."),
                                  std::string("/dev/./a"),
                                  std::string("/dev//a"),
                                  std::string("/dev/a/"),
                                  std::string("/dev/a b"),
                                  std::string("/dev/a\tb"),
                                  std::string("/dev/a\nb"),
                                  std::string("/dev/a\0b", 8),
                                  std::string("/dev/a\x7f"),
                                  std::string("/dev/\xff"),
                                  "/dev/" + std::string(256, 'a'),
                                  "/dev" + std::string(4096, '/') + "a",
                                  "/dev/a" + std::string(2045, '/') + "b"}) {
    CAPTURE(path);
    const std::string error = complaint("device:" + path, "c 1:2");
    CHECK(error.starts_with("a hook cannot set 'device:"));
    CHECK(error.ends_with(
        "expected device:/dev/NAME with an absolute path without '.', '..', double slashes and spaces"));
    CHECK(error.size() < 300);
  }
}

TEST_CASE("a mount has a path in the container, a path of the node, and may be read-only") {
  CHECK(*parse_hook_mount("mount:/run/lock", "/run/lock") == HookMount{"/run/lock", "/run/lock", false});
  CHECK(*parse_hook_mount("mount:/host", "/ ro") == HookMount{"/host", "/", true});
  CHECK(*parse_hook_mount("mount:/a", "/..b/.c ro") == HookMount{"/a", "/..b/.c", true});
}

TEST_CASE("a mount's paths lead nowhere else, and the error names the field and the form") {
  for (const std::string& path :
       {std::string(), std::string("a"), std::string("/"), std::string("//"), std::string("/a/../b"),
        std::string("/a/."), std::string("/a b"), std::string("/a ro"), std::string("/a\0b", 4), std::string("/\xc3"),
        "/" + std::string(256, 'a')}) {
    CAPTURE(path);
    CHECK(complaint("mount:" + path, "/a")
              .ends_with("expected mount:/PATH with an absolute path without '.', '..', double slashes and spaces"));
  }
  for (const std::string& value : {std::string(), std::string("ro"), std::string(" ro"), std::string("a"),
                                   std::string("/a rw"), std::string("/a  ro"), std::string("/a ro ro"),
                                   std::string("/a ro "), std::string("/a b"), std::string("/../a"), std::string("/a/"),
                                   std::string("/a\0", 3), std::string("/a\n"), "/" + std::string(5000, 'a')}) {
    CAPTURE(value);
    const std::string error = complaint("mount:/a", value);
    CHECK(error.starts_with("mount:/a is '"));
    CHECK(error.find("expected an absolute path of the node") != std::string::npos);
    CHECK(error.size() < 300);
  }
  std::string longest;
  while (longest.size() + 100 < 4095) longest += "/" + std::string(99, 'a');
  longest += "/" + std::string(4095 - longest.size() - 1, 'b');
  CHECK(complaint("mount:/a", longest).empty());
  CHECK_FALSE(complaint("mount:/a", longest + "b").empty());
}
