// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-node-storage/node_storage.hpp"

#include <doctest/doctest.h>

#include "plugins/advisor-node-storage/storage_files.hpp"
#include "test/support/fake_host.hpp"

using namespace koord::node_storage;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using Map = LocalStorage::Map;

namespace {

const std::string kUuid = "LVM-" + std::string(32, 'g') + std::string(32, 'v');

void add_device(FakeNode& node, const std::string& path, const char* number, const char* sectors) {
  node.write("sys/block/" + path + "/dev", std::string(number) + "\n");
  node.write("sys/block/" + path + "/size", std::string(sectors) + "\n");
}

void add_partition(FakeNode& node, const std::string& path, const char* number) {
  add_device(node, path, number, "1000");
  node.write("sys/block/" + path + "/partition", "1\n");
}

void add_mapped(FakeNode& node, const std::string& dm, const char* number, const std::string& name,
                const std::string& uuid, const std::string& lower) {
  add_device(node, dm, number, "500");
  node.write("sys/block/" + dm + "/dm/name", name + "\n");
  node.write("sys/block/" + dm + "/dm/uuid", uuid + "\n");
  node.link("sys/block/" + dm + "/slaves/" + lower, "../../../../block/" + lower);
}

// A system disk with partitions; a disk with a partition that is a volume group of two volumes, one of them encrypted;
// and other devices of a node: loop devices, memory, an empty drive.
void make_node(FakeNode& node) {
  add_device(node, "nvme0n1", "259:0", "2000000");
  add_partition(node, "nvme0n1/nvme0n1p1", "259:1");
  add_partition(node, "nvme0n1/nvme0n1p17", "259:17");
  add_device(node, "sdb", "8:16", "4000000");
  add_partition(node, "sdb/sdb3", "8:19");
  add_mapped(node, "dm-0", "253:0", "yoda--pool0-vol--1", kUuid, "sdb3");
  add_mapped(node, "dm-1", "253:1", "yoda--pool0-vol--2", kUuid, "sdb3");
  add_mapped(node, "dm-2", "253:2", "secret", "CRYPT-LUKS2-x-secret", "dm-1");
  add_device(node, "loop0", "7:0", "8");
  add_device(node, "zram0", "252:0", "8");
  add_device(node, "sr0", "11:0", "2097151");
  add_device(node, "sdc", "8:32", "0");
  node.write(
      "proc/1/mountinfo",
      "27 1 259:17 / / rw shared:1 - ext4 /dev/root rw\n"
      "28 27 0:21 / /proc rw - proc proc rw\n"
      "40 27 253:0 / /var/lib/kubelet/pods/a\\040b/mount rw shared:2 master:1 - xfs /dev/mapper/yoda--pool0-vol--1 rw\n"
      "41 27 253:0 /sub /var/lib/sub rw - xfs /dev/mapper/yoda--pool0-vol--1 rw\n"
      "42 27 0:50 / /btrfs rw - btrfs /dev/sdb3 rw\n");
}

LocalStorage storage_of(const FakeNode& node) {
  const auto roots = node.roots();
  return local_storage(*read_block_devices(roots.sys), read_physical_volumes(roots.run), *read_mounts(roots.proc));
}

std::string fact(FakeHost& host) {
  const auto bytes = host.store().get("test/node_local_storage_info");
  return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : "";
}

}  // namespace

TEST_CASE("a mount has its device's number, its mount point and its source, with any number of optional fields") {
  CHECK(parse_mountinfo("36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue\n"
                        "37 35 0:5 / /sys rw - sysfs none rw\n") ==
        std::vector<Mount>{{"98:0", "/mnt2", "/dev/root"}, {"0:5", "/sys", "none"}});
}

TEST_CASE("a line that is not a mount is left out") {
  CHECK(parse_mountinfo("\n36 35 98:0\n36 35 98:0 / /mnt rw - ext3\n36 35 98:0 / /mnt rw shared:1 ext3 /dev/a rw\n")
            .empty());
}

TEST_CASE("spaces, tabs, newlines and backslashes of paths are octal in mountinfo") {
  CHECK(unescape_octal("/a\\040b\\011c\\012d\\134e") == "/a b\tc\nd\\e");
  CHECK(unescape_octal("\\377") == "\xff");
  CHECK(unescape_octal("/plain") == "/plain");
}

TEST_CASE("text that is not an escape is not changed") {
  CHECK(unescape_octal("\\04") == "\\04");
  CHECK(unescape_octal("\\089\\400\\") == "\\089\\400\\");
}

TEST_CASE("the name of a logical volume is group-volume with inner dashes doubled") {
  CHECK(logical_volume({.dm_name = "vg-lv", .dm_uuid = kUuid}) == LogicalVolume{"vg", "lv"});
  CHECK(logical_volume({.dm_name = "a--b-c--d--e", .dm_uuid = kUuid}) == LogicalVolume{"a-b", "c-d-e"});
  CHECK(logical_volume({.dm_name = "a----b-c", .dm_uuid = kUuid}) == LogicalVolume{"a--b", "c"});
}

TEST_CASE("LVM's internal volumes, and device-mapper devices of other programs, are no logical volumes") {
  CHECK(logical_volume({.dm_name = "vg-pool", .dm_uuid = kUuid + "-pool"}) == LogicalVolume{"vg", "pool"});
  CHECK_FALSE(logical_volume({.dm_name = "vg-pool-tpool", .dm_uuid = kUuid + "-tpool"}));
  CHECK_FALSE(logical_volume({.dm_name = "vg-origin-real", .dm_uuid = kUuid + "-real"}));
  CHECK_FALSE(logical_volume({.dm_name = "vg-raid_rimage_0", .dm_uuid = kUuid}));
  CHECK_FALSE(logical_volume({.dm_name = "secret-disk", .dm_uuid = "CRYPT-LUKS2-secret"}));
  CHECK_FALSE(logical_volume({.dm_name = "vg-", .dm_uuid = kUuid}));
  CHECK_FALSE(logical_volume({.dm_name = "vg", .dm_uuid = kUuid}));
  CHECK_FALSE(logical_volume({.dm_name = "vg-lv", .dm_uuid = "LVM-short"}));
}

TEST_CASE("loop devices, memory, floppies, optical drives and stacked devices are no disks") {
  for (const char* disk : {"sda", "sdaa", "vda", "xvdb", "nvme10n1", "mmcblk0", "nbd3", "rbd0", "cciss!c0d0", "srv"})
    CHECK(is_disk_name(disk));
  for (const char* other : {"loop0", "ram15", "zram0", "dm-3", "md127", "sr0", "fd0"}) CHECK_FALSE(is_disk_name(other));
}

TEST_CASE("an exclamation mark of sysfs is a slash of /dev") {
  CHECK(device_path({.name = "cciss!c0d0"}) == "/dev/cciss/c0d0");
  CHECK(device_path({.name = "dm-0", .dm_name = "vg-lv"}) == "/dev/mapper/vg-lv");
}

TEST_CASE("LVM's own list of physical volumes names a device and its group") {
  PhysicalVolumes volumes;
  CHECK(add_physical_volume("8:19\nvg:data\ndev:/dev/sdb3\n", volumes));
  CHECK(add_physical_volume("8:32\nvg:data\n", volumes));
  CHECK_FALSE(add_physical_volume("8:48\nvg:\n", volumes));
  CHECK_FALSE(add_physical_volume("", volumes));
  CHECK(volumes == PhysicalVolumes{{"data", {"8:19", "8:32"}}});
}

TEST_CASE("disks are found by path and by number, and devices that only look like disks are not") {
  FakeNode node;
  make_node(node);
  const LocalStorage storage = storage_of(node);
  CHECK(storage.number_of_disk == Map{{"/dev/nvme0n1", "259:0"}, {"/dev/sdb", "8:16"}});
  CHECK(storage.disk_of_number == Map{{"259:0", "/dev/nvme0n1"}, {"8:16", "/dev/sdb"}});
}

TEST_CASE("a partition belongs to the disk of its directory, whatever its minor number") {
  FakeNode node;
  make_node(node);
  CHECK(storage_of(node).disk_of_partition ==
        Map{{"/dev/nvme0n1p1", "/dev/nvme0n1"}, {"/dev/nvme0n1p17", "/dev/nvme0n1"}, {"/dev/sdb3", "/dev/sdb"}});
}

TEST_CASE("a volume group is on the disk beneath its volumes") {
  FakeNode node;
  make_node(node);
  const LocalStorage storage = storage_of(node);
  CHECK(storage.disk_of_group == Map{{"yoda-pool0", "/dev/sdb"}});
  CHECK(storage.group_of_volume ==
        Map{{"/dev/mapper/yoda--pool0-vol--1", "yoda-pool0"}, {"/dev/mapper/yoda--pool0-vol--2", "yoda-pool0"}});
}

TEST_CASE("a volume group on two disks has no disk, both by its volumes and by LVM's list only") {
  FakeNode node;
  make_node(node);
  node.write("run/lvm/pvs_online/abc", "259:1\nvg:yoda-pool0\n");
  CHECK(storage_of(node).disk_of_group.empty());
  node.remove("run/lvm");
  node.link("sys/block/dm-1/slaves/nvme0n1p1", "../../../../block/nvme0n1/nvme0n1p1");
  CHECK(storage_of(node).disk_of_group.empty());
}

TEST_CASE("a mount belongs to its device by number, or by source if the file system has its own number") {
  FakeNode node;
  make_node(node);
  CHECK(storage_of(node).device_of_mount == Map{{"/", "/dev/nvme0n1p17"},
                                                {"/var/lib/kubelet/pods/a b/mount", "/dev/mapper/yoda--pool0-vol--1"},
                                                {"/var/lib/sub", "/dev/mapper/yoda--pool0-vol--1"},
                                                {"/btrfs", "/dev/sdb3"}});
}

TEST_CASE("devices with a cyclic dependency do not cause an endless search") {
  FakeNode node;
  make_node(node);
  node.link("sys/block/dm-1/slaves/dm-2", "../dm-2");
  node.link("sys/block/dm-2/slaves/dm-0", "../dm-0");
  CHECK(storage_of(node).disk_of_group == Map{{"yoda-pool0", "/dev/sdb"}});
}

TEST_CASE("without PID 1's mounts our own mounts are listed") {
  FakeNode node({{"proc/self/mountinfo", "1 1 8:1 / /x rw - ext4 /dev/sda1 rw\n"}});
  CHECK(read_mounts(node.roots().proc)->size() == 1);
}

TEST_CASE("the fact has koordlet's six maps") {
  LocalStorage storage;
  storage.number_of_disk = {{"/dev/vda", "254:0"}};
  storage.device_of_mount = {{"/a\"b", "/dev/vda"}};
  CHECK(
      local_storage_json(storage) ==
      R"({"DiskNumberMap":{"/dev/vda":"254:0"},"NumberDiskMap":{},"PartitionDiskMap":{},"VGDiskMap":{},"LVMapperVGMap":{},)"
      R"("MPDiskMap":{"/a\"b":"/dev/vda"}})");
}

TEST_CASE("the plugin reports the fact and the sizes of disks; a removed disk disappears from both") {
  FakeNode node;
  make_node(node);
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("node_disk_size_bytes", {{"device", "sdb"}, {"number", "8:16"}}) == 4000000.0 * 512);
  CHECK(host.series("node_disk_size_bytes").size() == 2);
  CHECK(fact(host).find(R"("VGDiskMap":{"yoda-pool0":"/dev/sdb"})") != std::string::npos);
  node.remove("sys/block/sdb");
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.series("node_disk_size_bytes").size() == 1);
  CHECK(fact(host).find("/dev/sdb\"") == std::string::npos);
  CHECK(host.value("collect_node_local_storage_info_total", {{"status", "succeeded"}}) == 2.0);
}

TEST_CASE("an unreadable mount table fails the round, and the last fact is kept") {
  FakeNode node;
  make_node(node);
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  const std::string before = fact(host);
  node.remove("proc/1");
  CHECK(advisor.collect() == KOORD_E_IO);
  CHECK(advisor.why().find("mountinfo") != std::string::npos);
  CHECK(fact(host) == before);
  CHECK(host.value("collect_node_local_storage_info_total", {{"status", "failed"}}) == 1.0);
  CHECK(host.value("node_disk_size_bytes", {{"device", "sdb"}}));
}

TEST_CASE("on a machine without block devices the plugin is absent, and the reason is reported") {
  FakeNode node;
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(advisor.why().starts_with("no block devices"));
}

TEST_CASE("the root of this machine is on one of its devices, or on none") {
  const koord::NodeRoots roots;
  const LocalStorage storage = local_storage(*read_block_devices(roots.sys), {}, *read_mounts(roots.proc));
  for (const auto& [point, device] : storage.device_of_mount) CHECK(device.starts_with("/dev/"));
  for (const auto& [disk, number] : storage.number_of_disk) CHECK(storage.disk_of_number.at(number) == disk);
}
