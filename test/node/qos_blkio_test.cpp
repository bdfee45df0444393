// SPDX-License-Identifier: Apache-2.0
// qos-blkio with its intents enforced on this machine's kernel: a pod's annotation becomes limits of a loop device,
// which the kernel shows and applies. After that the original values are restored. The first argument is the shared
// object.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "core/base/file.hpp"
#include "core/knob/governor.hpp"
#include "test/support/child_process.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/loop_disk.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord;
using namespace koord::test;

namespace {

std::string shared_object;

constexpr std::uint64_t kDiskBytes = 16 << 20;
constexpr std::size_t kBlock = 64 << 10;

// Enforces the plugin's intents as an agent does.
class Enforced {
 public:
  explicit Enforced(const RealCgroup& cgroup) : cgroup_(cgroup) {
    governor_.set_node_mode(koord::Mode::enforce);
    REQUIRE(strategy_.init() == KOORD_OK);
  }
  ~Enforced() { governor_.stop(); }

  void annotate(const std::string& blocks) {
    state::Pod pod;
    pod.uid = "u1", pod.namespace_ = "shop", pod.name = "cart";
    pod.phase = state::Phase::running;
    pod.cgroup_dir = cgroup_.dir();
    pod.annotations["koordinator.sh/blkioQOS"] = blocks;
    host_.hub().publish({.pods = std::vector{pod}, .node_slo = "{\"resourceQOSStrategy\": {}}"});
    REQUIRE(strategy_.evaluate() == KOORD_OK);
    governor_.take({"qos-blkio", "blkio"}, host_.context().take_plan(),
                   [this](std::vector<knob::IntentResult> results) { results_ = std::move(results); });
    CHECK(strategy_.on_applied(results_) == KOORD_OK);
  }
  void stop() { governor_.stop(); }
  const std::vector<knob::IntentResult>& results() const { return results_; }

 private:
  const RealCgroup& cgroup_;
  SystemClock clock_;
  knob::MemoryOriginals originals_;
  knob::Governor governor_{clock_, *cgroup::Layout::detect(NodeRoots()), NodeRoots(), originals_};
  FakeHost host_{NodeRoots()};
  FakeInstance strategy_{host_, shared_object};
  std::vector<knob::IntentResult> results_;
};

bool is_v1() { return cgroup::Layout::detect(NodeRoots())->version(cgroup::Controller::blkio) == cgroup::Version::v1; }

// Returns the kernel's read limits on v1, or all limits on v2.
std::string limits(const RealCgroup& cgroup) {
  return *read_file(cgroup.path(cgroup::Controller::blkio) + (is_v1() ? "/blkio.throttle.read_bps_device" : "/io.max"));
}

std::string number_of(const LoopDisk& disk) {
  return std::to_string(::major(disk.number())) + ":" + std::to_string(::minor(disk.number()));
}

std::string read_limit(const LoopDisk& disk, const std::string& name, std::uint64_t bytes_per_second) {
  return R"({"blocks": [{"name": ")" + disk.path() + R"(", "type": "device", "ioCfg": {")" + name + R"(": )" +
         std::to_string(bytes_per_second) + "}}]}";
}

// Reads the disk directly in the cgroup. Returns how long that takes.
double seconds_of_reading(const RealCgroup& cgroup, const LoopDisk& disk, std::uint64_t bytes) {
  const auto start = std::chrono::steady_clock::now();
  ChildProcess reader([&] {
    cgroup.add_process(::getpid());
    const int device = ::open(disk.path().c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
    void* block = nullptr;
    if (device < 0 || ::posix_memalign(&block, 4096, kBlock) != 0) ::_exit(1);
    for (std::uint64_t at = 0; at < bytes; at += kBlock)
      if (::pread(device, block, kBlock, static_cast<off_t>(at)) != static_cast<ssize_t>(kBlock)) ::_exit(2);
  });
  REQUIRE(reader.wait(std::chrono::seconds(120)) == 0);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE(
    "the kernel shows the limit; it follows the annotation, and is removed completely when the intent is withdrawn") {
  const auto disk = LoopDisk::attach(kDiskBytes);
  if (!disk) return;
  RealCgroup cgroup("blkio");
  const std::string before = limits(cgroup), number = number_of(*disk);
  Enforced enforced(cgroup);
  enforced.annotate(read_limit(*disk, "readBPS", 4 << 20));
  REQUIRE(enforced.results().size() == 1);
  CHECK(enforced.results()[0].outcome == decision::Outcome::applied);
  CHECK(enforced.results()[0].final_value == number + " rbps=4194304 wbps=max riops=max wiops=max");
  CHECK(limits(cgroup) == (is_v1() ? number + " 4194304\n" : number + " rbps=4194304 wbps=max riops=max wiops=max\n"));
  enforced.annotate(read_limit(*disk, "readBPS", 2 << 20));
  CHECK(limits(cgroup).starts_with(number + (is_v1() ? " 2097152" : " rbps=2097152")));
  enforced.annotate("");
  CHECK(limits(cgroup) == before);
  enforced.annotate(read_limit(*disk, "readBPS", 4 << 20));
  enforced.stop();
  CHECK(limits(cgroup) == before);
}

TEST_CASE("an administrator's limit is restored when the plugin's limit ends") {
  const auto disk = LoopDisk::attach(kDiskBytes);
  if (!disk) return;
  RealCgroup cgroup("blkio");
  const std::string number = number_of(*disk);
  const std::string file =
      cgroup.path(cgroup::Controller::blkio) + (is_v1() ? "/blkio.throttle.read_bps_device" : "/io.max");
  REQUIRE(write_value(file, number + (is_v1() ? " 7340032" : " rbps=7340032")));
  const std::string before = limits(cgroup);
  Enforced enforced(cgroup);
  enforced.annotate(read_limit(*disk, "readBPS", 4 << 20));
  CHECK(limits(cgroup) != before);
  enforced.stop();
  CHECK(limits(cgroup) == before);
}

// On v2, weights have an effect only if the root cgroup enables the kernel's cost model for the device.
TEST_CASE("v2: the kernel shows the weight, and it is removed when the intent is withdrawn") {
  const auto disk = LoopDisk::attach(kDiskBytes);
  if (!disk || is_v1()) return;
  const std::string number = number_of(*disk), root = NodeRoots().cgroup + "/io.cost.qos";
  const RealCgroup cgroup("blkio");
  const std::string file = cgroup.path(cgroup::Controller::blkio) + "/io.weight";
  const std::string before = read_file(file).value_or("");
  if (before.empty() || !write_value(root, number + " enable=1")) return;  // a kernel without the cost model
  Enforced enforced(cgroup);
  enforced.annotate(R"({"blocks": [{"name": ")" + disk->path() +
                    R"(", "type": "device", "ioCfg": {"ioWeightPercent": 60}}]})");
  CHECK(read_file(file).value() == before + number + " 60\n");
  enforced.annotate("");
  CHECK(read_file(file).value() == before);
  CHECK(write_value(root, number + " enable=0"));
}

// Checks a minimum, which does not depend on the machine's load: with a limit of 1 MiB/s, 4 MiB cannot be read
// immediately. The benchmark measures the speed without a limit.
TEST_CASE("reads of a limited device take as long as the limit says, at least") {
  const auto disk = LoopDisk::attach(kDiskBytes);
  if (!disk) return;
  RealCgroup cgroup("blkio");
  Enforced enforced(cgroup);
  enforced.annotate(read_limit(*disk, "readBPS", 1 << 20));
  CHECK(seconds_of_reading(cgroup, *disk, 4 << 20) >= 2.0);
}

int main(int argc, char** argv) {
  if (auto why = RealCgroup::unavailable()) {
    std::printf("skipped: no cgroups can be made here: %s\n", why->c_str());
    return kSkip;
  }
  if (!cgroup::Layout::detect(NodeRoots())->version(cgroup::Controller::blkio)) {
    std::printf("skipped: there is neither an io nor a blkio controller\n");
    return kSkip;
  }
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s qos-blkio.so\n", argv[0]);
    return 2;
  }
  shared_object = argv[1];
  return doctest::Context(argc - 1, argv + 1).run();
}
