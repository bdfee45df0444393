// SPDX-License-Identifier: Apache-2.0
// Compares the latencies that bpf/block_blame measures with the latencies that a client sees.
#include <sys/mman.h>

#include <chrono>
#include <fstream>

#include "test/node/blocking_workloads.hpp"

using namespace koord::test;
using koord::interference::Direction;

namespace {

// Returns the seconds that this thread waited for a CPU.
double waited_for_cpu() {
  double ran_ns = 0, waited_ns = 0;
  std::ifstream("/proc/thread-self/schedstat") >> ran_ns >> waited_ns;
  return waited_ns / 1e9;
}

// Mean times in us.
struct ReadTimes {
  double seen = 0, without_waits_for_cpu = 0;
};

ReadTimes read_as_client(Workload& client, const std::string& path, int n) {
  void* shared = ::mmap(nullptr, sizeof(ReadTimes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  auto* times = static_cast<ReadTimes*>(shared);
  client.run([&] {
    const auto begin = std::chrono::steady_clock::now();
    const double waited = waited_for_cpu();
    transfer(path, O_RDONLY, kBlock, n);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    *times = {seconds * 1e6 / n, (seconds - (waited_for_cpu() - waited)) * 1e6 / n};
  });
  const ReadTimes result = *times;
  ::munmap(shared, sizeof(ReadTimes));
  return result;
}

void check_latency_of_client(Observed& observed, Workload& bulk, const std::string& path) {
  Workload client("client");
  REQUIRE(eventually([&] {
    observed.read();
    return observed.of(bulk, Direction::write).latency.count > 1000;
  }));
  observed.forget();
  const ReadTimes times = read_as_client(client, path, 200);
  observed.read();
  const double measured = mean_us(observed.of(client, Direction::read));
  MESSAGE("the client sees " << times.seen << " us, without waits for a CPU " << times.without_waits_for_cpu
                             << " us, measured are " << measured << " us of "
                             << observed.of(client, Direction::read).latency.count);
  // A client also waits for its wake-up. Some waits for a CPU are part of a latency, some are not.
  CHECK(measured >= 0.25 * times.without_waits_for_cpu);
  CHECK(measured <= 1.01 * times.seen);
}

}  // namespace

TEST_CASE("a latency contains the wait for a free request, of which a device has few") {
  const DiskFile file;
  if (!file.is_on_disk()) return;
  Workload bulk("bulk");
  Observed observed(file.device);
  bulk.start(48, [&] { transfer(file.path, O_WRONLY, 1 << 20, -1); });
  check_latency_of_client(observed, bulk, file.path);
}

TEST_CASE("a latency contains the wait in the queue of an I/O scheduler") {
  const auto disk = LoopDisk::attach(kDiskSize);
  if (!disk) return;
  const dev_t number = disk->number();
  const std::string scheduler =
      "/sys/dev/block/" + std::to_string(major(number)) + ":" + std::to_string(minor(number)) + "/queue/scheduler";
  if (std::ofstream(scheduler) << "mq-deadline" << std::flush) {
    Workload bulk("bulk");
    Observed observed(number);
    bulk.start(200, [&] { transfer(disk->path(), O_WRONLY, kBulk, -1); });
    check_latency_of_client(observed, bulk, disk->path());
  } else {
    std::printf("SKIPPED: this kernel lacks the scheduler mq-deadline\n");
  }
}
