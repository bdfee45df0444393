// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-blkio/blkio.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <span>

#include "plugins/qos-blkio/sysfs_devices.hpp"
#include "test/support/fake_host.hpp"

using namespace koord::blkio;
using koord::slo::Block;
using koord::slo::BlockType;
using koord::slo::IoConfig;
using koord::strategy::Intent;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;

namespace {

using Texts = std::vector<std::string>;

// A disk with a partition, a disk with a volume group, and a disk that the kubelet has mounted for a pod.
constexpr const char* kStorage = R"({
  "DiskNumberMap": {"/dev/vda": "254:0", "/dev/vdb": "254:16", "/dev/nvme0n1": "259:0"},
  "NumberDiskMap": {"254:0": "/dev/vda"}, "PartitionDiskMap": {"/dev/vda1": "/dev/vda", "/dev/nvme0n1p17": "/dev/nvme0n1"},
  "VGDiskMap": {"data": "/dev/vdb"}, "LVMapperVGMap": {"/dev/mapper/data-web": "data"},
  "MPDiskMap": {"/": "/dev/vda1", "/var/lib/kubelet/pods/u1/volumes/kubernetes.io~csi/pv-7/mount": "/dev/mapper/data-web",
                "/mnt/kubelet/pods/u1/volumes/kubernetes.io~local-volume/pv-8": "/dev/nvme0n1p17"}})";
constexpr const char* kVolumes = R"({"u1": {"cache": "pv-7", "local": "pv-8", "lost": "pv-9"}})";

Known known() {
  Known known;
  known.storage = *parse_storage(kStorage);
  known.pod_volumes = *parse_pod_volumes(kVolumes);
  known.number_of_name = {{"loop0", "7:0"}, {"cciss!c0d0", "104:0"}};
  return known;
}

std::string number(BlockType type, const std::string& name, const char* uid = "") {
  const auto found = number_of({name, type, {}}, uid, known());
  return found ? *found : found.error().text;
}

IoConfig io(std::optional<std::int64_t> read_bps, std::optional<std::int64_t> weight = {}) {
  IoConfig config;
  config.read_bps = read_bps;
  config.weight_percent = weight;
  return config;
}

// A NodeSLO with blkioQOS for one class.
struct BlkioFixture {
  Known devices = known();
  koord::slo::ResourceQos strategy;
  Inputs inputs{.strategy = &strategy,
                .known = &devices,
                .best_effort_dirs = {"be"},
                .burstable_dirs = {"ls"},
                .pods = {},
                .missing_knobs = {}};

  Plan with(std::optional<koord::slo::ClassQos>& section, std::vector<Block> blocks, bool enable = true) {
    section = koord::slo::ClassQos{};
    section->blkio = koord::slo::BlkioQos{enable, std::move(blocks)};
    return plan(inputs);
  }
  Plan best_effort(std::vector<Block> blocks) { return with(strategy.be, std::move(blocks)); }
};

std::vector<std::string> texts(const Plan& plan) {
  std::vector<std::string> texts;
  for (const Intent& intent : plan.intents) texts.push_back(intent.cgroup_dir + " " + intent.knob + " " + intent.value);
  return texts;
}
// The plugin on the host's services, on a cgroup v1 node with one disk.
struct Node {
  FakeNode node{
      {"sys/block/vdb/dev", "254:16\n"}, {"sys/block/vdb/size", "2097152\n"}, {"sys/block/vdb/removable", "0\n"}};
  FakeHost host{node};
  FakeInstance strategy{host, koord_entry_v1()};

  void init() { REQUIRE(strategy.init() == KOORD_OK); }
  void publish_slo(const std::string& blocks) {
    host.hub().publish({.node_slo = R"({"resourceQOSStrategy": {"beClass": {"blkioQOS": {"enable": true, "blocks": )" +
                                    blocks + "}}}}"});
  }
  void publish_pod(const std::string& annotation) {
    koord::state::Pod pod;
    pod.uid = "u1", pod.namespace_ = "shop", pod.name = "cart";
    pod.phase = koord::state::Phase::running;
    pod.kube_qos = koord::state::KubeQos::best_effort;
    pod.cgroup_dir = "kubepods/besteffort/podu1";
    pod.annotations["koordinator.sh/blkioQOS"] = annotation;
    host.hub().publish({.pods = std::vector{pod}});
  }
  void keep(const char* key, const std::string& text) {
    REQUIRE(host.store().put(key, std::as_bytes(std::span(text))));
  }
  Texts proposed() {
    REQUIRE(strategy.evaluate() == KOORD_OK);
    Texts texts;
    for (const koord::knob::Intent& intent : host.context().take_plan())
      texts.push_back(intent.cgroup_dir + " " + std::string(intent.knob->name) + " " + intent.value);
    return texts;
  }
};

}  // namespace

TEST_CASE("a device is named with or without /dev, and a partition means its disk") {
  CHECK(number(BlockType::device, "/dev/vdb") == "254:16");
  CHECK(number(BlockType::device, "vdb") == "254:16");
  CHECK(number(BlockType::device, "/dev/vda1") == "254:0");
  CHECK(number(BlockType::device, "nvme0n1p17") == "259:0");
  CHECK(number(BlockType::device, "/dev/mapper/data-web") == "254:16");
}

TEST_CASE("a disk that advisor-node-storage does not list is found in sysfs") {
  CHECK(number(BlockType::device, "loop0") == "7:0");
  CHECK(number(BlockType::device, "/dev/cciss/c0d0") == "104:0");
  CHECK(number(BlockType::device, "sdz") == "no block device '/dev/sdz'");
}

TEST_CASE("a volume group stands for its disk") {
  CHECK(number(BlockType::volume_group, "data") == "254:16");
  CHECK(number(BlockType::volume_group, "spread") == "no volume group 'spread' that is on one disk");
}

TEST_CASE("a pod's volume is resolved from its claim through the mount to the disk, in any directory of the kubelet") {
  CHECK(number(BlockType::pod_volume, "cache", "u1") == "254:16");
  CHECK(number(BlockType::pod_volume, "local", "u1") == "259:0");
  CHECK(number(BlockType::pod_volume, "lost", "u1") == "the kubelet has not mounted 'pv-9' from a block device");
  CHECK(number(BlockType::pod_volume, "cache", "u2").starts_with("the pod has no such volume"));
  CHECK(number(BlockType::pod_volume, "cache") == "only an annotation of a pod can name a volume");
}

TEST_CASE("a mount belongs to a volume only if it has the kubelet's format") {
  CHECK(volume_of_mount("/var/lib/kubelet/pods/u1/volumes/kubernetes.io~csi/pv-7/mount") == "u1/pv-7");
  CHECK(volume_of_mount("/k/pods/u1/volumes/kubernetes.io~local-volume/pv-8") == "u1/pv-8");
  for (const char* other :
       {"/", "/pods/u1", "/pods/u1/volumes/kubernetes.io~csi", "/pods/u1/volumes/kubernetes.io~csi/pv/globalmount",
        "/pods/a/b/volumes/kubernetes.io~csi/pv/mount", "/volumes/kubernetes.io~csi/pv/mount"})
    CHECK(volume_of_mount(other) == "");
}

TEST_CASE("while the storage is unknown only devices of sysfs are found") {
  Known little;
  little.number_of_name = {{"vdb", "254:16"}};
  CHECK(*number_of({"vdb", BlockType::device, {}}, "", little) == "254:16");
  CHECK(number_of({"data", BlockType::volume_group, {}}, "", little).error().text ==
        "the node's storage is unknown; plugin advisor-node-storage reports it");
}

TEST_CASE("best-effort pods get limits and a weight as a group, and a value without a limit is max") {
  BlkioFixture fixture;
  IoConfig config = io(1048576, 40);
  config.write_iops = 100;
  const Plan plan = fixture.best_effort({{"vdb", BlockType::device, config}});
  CHECK(texts(plan) == Texts{"be io.max 254:16 rbps=1048576 wbps=max riops=max wiops=100", "be io.weight 254:16 40"});
  CHECK(plan.intents[0].level == KOORD_LEVEL_QOS);
  for (const Intent& intent : plan.intents)
    CHECK(intent.role == (intent.knob == "io.max" ? KOORD_ROLE_CAP : KOORD_ROLE_SET));
  CHECK(plan.intents[0].reason == "beClass of the NodeSLO sets this for best-effort pods together on device 'vdb'");
  CHECK(plan.intents[0].inputs ==
        koord::strategy::Inputs{{"device", "254:16"}, {"readBPS", "1048576"}, {"writeIOPS", "100"}});
}

TEST_CASE("a limit of 0 and a missing weight propose nothing") {
  BlkioFixture fixture;
  CHECK(fixture.best_effort({{"vdb", BlockType::device, io(0)}}).intents.empty());
  CHECK(fixture.best_effort({{"vdb", BlockType::device, IoConfig{}}}).intents.empty());
  CHECK(fixture.with(fixture.strategy.be, {{"vdb", BlockType::device, io(5)}}, false).intents.empty());
}

TEST_CASE("a block without a device is reported, and the others are used") {
  BlkioFixture fixture;
  const Plan plan = fixture.best_effort({{"sdz", BlockType::device, io(5)}, {"vdb", BlockType::device, io(6)}});
  CHECK(texts(plan) == Texts{"be io.max 254:16 rbps=6 wbps=max riops=max wiops=max"});
  CHECK(plan.problems == Texts{"beClass of the NodeSLO: device 'sdz': no block device '/dev/sdz'"});
}

TEST_CASE("if several blocks are on one disk the strictest value of each limit is used and reported") {
  BlkioFixture fixture;
  const Plan plan =
      fixture.best_effort({{"vdb", BlockType::device, io(9, 50)}, {"data", BlockType::volume_group, io(7)}});
  CHECK(texts(plan) == Texts{"be io.max 254:16 rbps=7 wbps=max riops=max wiops=max", "be io.weight 254:16 50"});
  CHECK(
      plan.problems ==
      Texts{
          "beClass of the NodeSLO: device 'vdb', volume group 'data' are all on 254:16, the strictest of each limit holds"});
}

TEST_CASE("lsClass limits burstable pods as a group, and classes without a cgroup are reported") {
  BlkioFixture fixture;
  CHECK(texts(fixture.with(fixture.strategy.ls, {{"vdb", BlockType::device, io(5)}})) ==
        Texts{"ls io.max 254:16 rbps=5 wbps=max riops=max wiops=max"});
  fixture.strategy.ls.reset();
  const Plan plan = fixture.with(fixture.strategy.lsr, {{"vdb", BlockType::device, io(5)}});
  CHECK(plan.intents.empty());
  CHECK(plan.problems ==
        Texts{"lsrClass of the NodeSLO: its pods have no cgroup together, so its blkioQOS does nothing"});
}

TEST_CASE("the root controls the cost of its devices, with koordlet's defaults") {
  BlkioFixture fixture;
  const Plan plan = fixture.with(fixture.strategy.root, {{"vda", BlockType::device, IoConfig{}}});
  CHECK(texts(plan) == Texts{" io.cost.qos 254:0 enable=1 ctrl=user rpct=95 rlat=3000 wpct=95 wlat=3000"});
  CHECK(plan.intents[0].level == KOORD_LEVEL_NODE);
}

TEST_CASE("a model of a device's cost is written only if it is complete") {
  BlkioFixture fixture;
  IoConfig config;
  config.enable_user_model = true;
  config.model_read_bps = 1, config.model_read_sequential_iops = 2, config.model_read_random_iops = 3;
  config.model_write_bps = 4, config.model_write_sequential_iops = 5;
  Plan plan = fixture.with(fixture.strategy.root, {{"vda", BlockType::device, config}});
  CHECK(plan.intents.size() == 1);
  CHECK(
      plan.problems ==
      Texts{
          "cgroupRoot of the NodeSLO: device 'vda': enableUserModel needs modelWriteRandIOPS; the kernel's model stays"});
  config.model_write_random_iops = 6;
  plan = fixture.with(fixture.strategy.root, {{"vda", BlockType::device, config}});
  CHECK(texts(plan)[1] == " io.cost.model 254:0 ctrl=user rbps=1 rseqiops=2 rrandiops=3 wbps=4 wseqiops=5 wrandiops=6");
}

TEST_CASE("a pod's annotation limits that pod, also on its own volumes") {
  BlkioFixture fixture;
  fixture.inputs.pods.push_back({"u1", "shop/cart", "pod1", {{"cache", BlockType::pod_volume, io(3)}}});
  const Plan plan = ::plan(fixture.inputs);
  CHECK(texts(plan) == Texts{"pod1 io.max 254:16 rbps=3 wbps=max riops=max wiops=max"});
  CHECK(plan.intents[0].level == KOORD_LEVEL_POD);
  CHECK(plan.intents[0].reason == "the annotation of pod shop/cart sets this for that pod on volume 'cache'");
}

TEST_CASE("a knob that this node lacks is not proposed, but others are") {
  BlkioFixture fixture;
  fixture.inputs.missing_knobs = {"io.weight"};
  CHECK(texts(fixture.best_effort({{"vdb", BlockType::device, io(5, 50)}})) ==
        Texts{"be io.max 254:16 rbps=5 wbps=max riops=max wiops=max"});
}

TEST_CASE("facts in another format are errors that name the part") {
  CHECK(parse_storage("[]").error().message() == "node_local_storage_info: expected a mapping, found a list");
  CHECK(parse_storage(R"({"VGDiskMap": {"data": 7}})").error().text == "'VGDiskMap' holds something that is not text");
  CHECK(parse_storage("{}")->number_of_disk.empty());
  CHECK(parse_pod_volumes(R"({"u1": []})").error().text == "'u1' is no JSON object");
  CHECK(parse_pod_volumes("{").error().message().starts_with("pod_volumes: not JSON: "));
}

TEST_CASE("devices of sysfs are found by name, and a partition has its disk's number") {
  FakeNode node({{"sys/block/loop0/dev", "7:0\n"},
                 {"sys/block/md0/dev", "9:0\n"},
                 {"sys/block/md0/md0p1/partition", "1\n"},
                 {"sys/block/md0/md0p1/dev", "259:4\n"}});
  CHECK(sysfs_devices(node.roots().sys) == Map{{"loop0", "7:0"}, {"md0", "9:0"}, {"md0p1", "9:0"}});
}

TEST_CASE(
    "the plugin follows the NodeSLO and a pod's annotation, and proposes nothing when they request nothing any more") {
  Node node;
  node.init();
  node.publish_pod(R"({"blocks": [{"name": "vdb", "type": "device", "iocfg": {"writeIOPS": 9}}]})");
  node.publish_slo(R"([{"name": "/dev/vdb", "type": "device", "ioCfg": {"readBPS": 1048576}}])");
  CHECK(node.proposed() == Texts{"kubepods/besteffort io.max 254:16 rbps=1048576 wbps=max riops=max wiops=max",
                                 "kubepods/besteffort/podu1 io.max 254:16 rbps=max wbps=max riops=max wiops=9"});
  node.publish_slo("[]");
  node.publish_pod("");
  CHECK(node.proposed().empty());
}

TEST_CASE("the plugin reads volumes and groups from the stored facts, also after changes") {
  Node node;
  node.init();
  node.publish_pod(R"({"blocks": [{"name": "cache", "type": "podvolume", "ioCfg": {"readBPS": 5}}]})");
  node.publish_slo(R"([{"name": "data", "type": "volumegroup", "ioCfg": {"readBPS": 7}}])");
  CHECK(node.proposed().empty());
  node.keep("advisor-node-storage/node_local_storage_info", kStorage);
  node.keep("host/pod_volumes", kVolumes);
  CHECK(node.proposed() == Texts{"kubepods/besteffort io.max 254:16 rbps=7 wbps=max riops=max wiops=max",
                                 "kubepods/besteffort/podu1 io.max 254:16 rbps=5 wbps=max riops=max wiops=max"});
}

TEST_CASE("while no NodeSLO is known the plugin proposes nothing") {
  Node node;
  node.init();
  CHECK(node.proposed().empty());
  node.publish_pod(R"({"blocks": [{"name": "vdb", "type": "device", "ioCfg": {"writeIOPS": 9}}]})");
  CHECK(node.proposed().empty());
}

TEST_CASE("on a node without a block I/O controller the plugin is absent") {
  Node node;
  node.host.capabilities().set({{"blkio_cgroup", koord::service::CapabilityState::absent, "no blkio controller", ""}});
  CHECK(node.strategy.init() == KOORD_E_UNSUPPORTED);
  CHECK(node.strategy.why() == "this node has no controller of block I/O (io, or blkio on cgroup v1)");
}

TEST_CASE("a knob that this kernel lacks is not proposed again for ten minutes, but other knobs are") {
  Node node;
  node.init();
  node.publish_slo(R"([{"name": "vdb", "type": "device", "ioCfg": {"readBPS": 1048576, "ioWeightPercent": 40}}])");
  const auto proposes_weight = [&](const Texts& texts) {
    return std::any_of(texts.begin(), texts.end(),
                       [](const std::string& text) { return text.find("io.weight") != std::string::npos; });
  };
  Texts all = node.proposed();
  REQUIRE(proposes_weight(all));
  REQUIRE(all.size() > 1);
  REQUIRE(node.strategy.on_applied({{koord::decision::Outcome::unsupported, "io.weight",
                                     all[0].substr(0, all[0].find(' ')), "", ""}}) == KOORD_OK);
  const Texts without = node.proposed();
  CHECK_FALSE(proposes_weight(without));
  CHECK_FALSE(without.empty());
  node.host.clock().advance(std::chrono::minutes(10));
  CHECK(node.proposed() == all);
}
