// SPDX-License-Identifier: Apache-2.0
// Block I/O limits with hostile numbers and device names, through the whole agent into this kernel's files. At every
// moment a file has either a limit that the NodeSLO requests or no limit. After the strategy is off, the files have
// their original values.
#include <doctest/doctest.h>

#include <sys/sysmacros.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "test/composed/strategy_rows.hpp"
#include "test/support/loop_disk.hpp"

using namespace koord::test;
using koord::cgroup::Controller;

namespace {

constexpr auto kLong = std::chrono::minutes(2);

std::string slo_of(const std::string& name, const std::string& figures, const std::string& type = "device") {
  const std::string block = "{name: " + name + ", type: " + type + ", ioCfg: {" + figures + "}}";
  return "{resourceQOSStrategy: {beClass: {blkioQOS: {enable: true, blocks: [" + block + "]}}}}";
}

struct HostileBlock {
  std::string name, figures;
  std::string type = "device";
  bool has_bytes = false;  // its readBPS is valid and is applied
};

// The limits of the disk without its device number; empty if the disk has no limit.
class Limits {
 public:
  explicit Limits(const Sessions& node) : node_(node) {}

  std::vector<std::string> files() const {
    if (node_.pods.is_v2()) return {file("io.max")};
    return {file("blkio.throttle.read_bps_device"), file("blkio.throttle.read_iops_device")};
  }
  // Names the applied limits: "bytes" for readBPS 1048576, "reads" for readIOPS 100, "?" for any other limit.
  static std::string shown(const std::string& text) {
    static const std::map<std::string, std::string> kKnown = {
        {"", ""},
        {" 1048576", "bytes "},
        {" 100", "reads "},
        {" rbps=1048576 wbps=max riops=max wiops=max", "bytes "},
        {" rbps=1048576 wbps=max riops=100 wiops=max", "bytes reads "}};
    const auto found = kKnown.find(text.substr(std::min(text.find(' '), text.size())));
    return found == kKnown.end() ? "?" + text : found->second;
  }
  std::string now() const {
    std::string all;
    for (const std::string& path : files())
      all += shown(std::string(koord::trim(koord::read_file(path).value_or("?"))));
    return all;
  }

 private:
  std::string file(const char* name) const { return node_.file(node_.pods.besteffort, Controller::blkio, name); }
  const Sessions& node_;
};

}  // namespace

TEST_CASE("hostile block I/O limits: a limit that was not requested is never set") {
  const auto disk = LoopDisk::attach(1 << 20);
  if (!disk) {
    MESSAGE("left out here: there are no loop devices");
    return;
  }
  const std::string number = std::to_string(::major(disk->number())) + ":" + std::to_string(::minor(disk->number()));
  const std::string bytes = "readBPS: 1048576";
  Sessions node(given("qos-blkio", "", "", "", "BlkIOReconcile=true"));
  const Limits limits(node);
  REQUIRE(node.start());
  node.set_node_slo(slo_of(disk->path(), bytes + ", readIOPS: 100"));
  REQUIRE_MESSAGE(eventually([&] { return limits.now() == "bytes reads "; }, kLong), node.agent->log());
  node.set_node_slo(slo_of("no-such-disk", bytes));
  REQUIRE(eventually([&] { return limits.now().empty(); }, kLong));
  const FileWatch watch(limits.files());
  // A row with a limit follows a row without a limit. The limit in the file shows that the row was applied.
  const std::vector<HostileBlock> rows = {
      {disk->path(), bytes + ", readIOPS: 4294967297", "device", true},  // 1 in the 32 bits of cgroup v1
      {"../" + disk->path().substr(5), bytes},
      {disk->path(), bytes + ", readIOPS: 4294967396", "device", true},  // 100 in 32 bits
      {"\"/dev/../dev/" + disk->path().substr(5) + "\"", bytes},
      {disk->path(), bytes + ", readIOPS: 9223372036854775807", "device", true},
      {"\"" + number + "\"", bytes},
      {disk->path(), bytes + ", readIOPS: -1", "device", true},
      {disk->path(), "readBPS: -1048576"},
      {disk->path(), bytes + ", readIOPS: 18446744073709551716", "device", true},
      {disk->path(), "readBPS: 1e30"},
      {disk->path(), bytes + ", readIOPS: \"100\"", "device", true},
      {disk->path(), bytes, "podvolume"},
      {disk->path(), bytes + ", readIOPS: 4294967295", "device", true},  // the kernel's value for no limit
      {disk->path(), bytes, "disk"},
  };
  for (const HostileBlock& row : rows) {
    INFO(row.name << " " << row.figures << " " << row.type);
    node.set_node_slo(slo_of(row.name, row.figures, row.type));
    CHECK_MESSAGE(eventually([&] { return limits.now() == (row.has_bytes ? "bytes " : ""); }, kLong),
                  limits.now() << node.agent->log());
    CHECK(node.agent->status_of("/readyz") == 200);
  }
  node.set_node_slo(kOff);
  CHECK_MESSAGE(node.becomes_as_before(), node.differences());
  for (const std::string& path : limits.files())
    for (const std::string& value : watch.seen(path)) {
      const std::string shown = Limits::shown(value);
      CHECK_MESSAGE((shown.empty() || shown == "bytes "), path << ": " << value);
    }
  CHECK(node.agent->stop() == 0);
}
