// SPDX-License-Identifier: Apache-2.0
// Scheduling latency on the real kernel, from each source, compared with the measurements of the threads and of the
// kernel.
#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "plugins/advisor-sched-latency/sched_latency_probe.hpp"
#include "test/support/child_process.hpp"
#include "test/support/cpu_workloads.hpp"
#include "test/support/must.hpp"
#include "test/support/now_ns.hpp"
#include "test/support/real_cgroup.hpp"
#include "test/support/run_with_cgroups.hpp"

namespace {

using koord::latency::CgroupDirectory;
using koord::latency::CgroupTree;
using koord::latency::Histogram;
using koord::sched_latency::Probe;
using koord::sched_latency::ProbeOptions;
using koord::sched_latency::Reading;
using koord::sched_latency::Source;
using koord::sched_latency::Waits;
using Windows = koord::latency::Windows<Waits>;
using koord::test::ChildProcess;
using koord::test::eventually;
using koord::test::must;
using koord::test::now_ns;
using koord::test::RealCgroup;

constexpr std::uint64_t kRounds = 50;

CgroupTree real_tree() { return must(CgroupTree::find("cpu", "/sys/fs/cgroup", "/proc")); }

// Prints a line and returns nullptr on a kernel without the source.
std::unique_ptr<Probe> open_or_skip(Source source, ProbeOptions options = {}) {
  options.only = source;
  auto opened = koord::sched_latency::open_probe(real_tree(), options);
  if (opened) return std::move(opened->probe);
  std::printf("SKIPPED: %s\n", opened.error().message().c_str());
  return nullptr;
}

void pin_to_first_cpu() {
  cpu_set_t cpus;
  sched_getaffinity(0, sizeof cpus, &cpus);
  int first = 0;
  while (!CPU_ISSET(first, &cpus)) ++first;
  CPU_ZERO(&cpus);
  CPU_SET(first, &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
}

bool is_asleep(const ChildProcess& process) {
  const std::string status = must(koord::read_file("/proc/" + std::to_string(process.pid()) + "/status"));
  return status.find("State:\tS") != std::string::npos;
}

std::uint64_t run_delay_ns(const ChildProcess& process) {
  const std::string text = must(koord::read_file("/proc/" + std::to_string(process.pid()) + "/schedstat"));
  return must(koord::parse_uint(koord::split(text, ' ')[1]));
}

struct Pipe {
  Pipe() {
    if (::pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  bool read(std::uint64_t& value) const { return ::read(ends[0], &value, sizeof value) == sizeof value; }
  void write(std::uint64_t value) const { static_cast<void>(!::write(ends[1], &value, sizeof value)); }

  std::array<int, 2> ends{};
};

// Values that the processes and the test share.
struct Measured {
  std::atomic<std::uint64_t> rounds{0}, delay_ns{0};  // written by the waiter
  std::atomic<bool> hogged{false};                    // written by the hog
};

class SharedMeasured {
 public:
  SharedMeasured() {
    void* memory = ::mmap(nullptr, sizeof(Measured), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
    value_ = new (memory) Measured;
  }
  SharedMeasured(const SharedMeasured&) = delete;
  SharedMeasured& operator=(const SharedMeasured&) = delete;
  ~SharedMeasured() { ::munmap(value_, sizeof(Measured)); }
  Measured& operator*() const { return *value_; }

 private:
  Measured* value_;
};

// Makes this process preferred to every ordinary thread. A v1 cgroup must first get real-time bandwidth.
void become_real_time(const RealCgroup& cgroup, int priority, const char* us_per_second) {
  const std::string path = cgroup.path(koord::cgroup::Controller::cpu) + "/cpu.rt_runtime_us";
  cgroup.add_process(::getpid());
  // The kernel releases the bandwidth of removed cgroups with a delay.
  const bool is_real_time = eventually([&] {
    static_cast<void>(koord::write_value(path, us_per_second).has_value());
    const sched_param parameter{.sched_priority = priority};
    return sched_setscheduler(0, SCHED_FIFO, &parameter) == 0;
  });
  if (!is_real_time) throw std::runtime_error("no real-time priority");
}

void spin_until(std::uint64_t end_ns) {
  while (now_ns() < end_ns) asm volatile("");
}

// Three processes on one CPU, each in its own cgroup. A waker wakes a waiter repeatedly while a hog uses the CPU. The
// waker has priority over the hog, and the hog over the waiter, so only the waiter waits.
class Contention {
 public:
  Contention() : waiter([this] { wait(); }), waker([this] { wake(); }) {
    REQUIRE(eventually([this] { return is_asleep(waiter) && is_asleep(waker); }));
  }

  // Runs the contention. After that the processes sleep again.
  void run() {
    {
      ChildProcess hog([this] { compete(); });
      go_.write(1);
      REQUIRE(eventually([this] { return (*measured).rounds == kRounds; }));
    }
    REQUIRE(eventually([this] { return is_asleep(waiter) && is_asleep(waker); }));
  }

  RealCgroup waiting{"waiter"}, waking{"waker"}, hogging{"hog"};
  SharedMeasured measured;

 private:
  void wait() const {
    waiting.add_process(::getpid());
    pin_to_first_cpu();
    for (std::uint64_t woken_at = 0; stamps_.read(woken_at);) {
      (*measured).delay_ns += now_ns() - woken_at;
      ++(*measured).rounds;
    }
  }

  void wake() const {
    become_real_time(waking, 20, "50000");
    pin_to_first_cpu();
    std::uint64_t go = 0;
    go_.read(go);
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      while ((*measured).rounds < i || !(*measured).hogged) ::usleep(1000);
      stamps_.write(now_ns());
    }
    for (;;) ::pause();
  }

  void compete() const {
    become_real_time(hogging, 10, "400000");
    pin_to_first_cpu();
    for (;;) {
      (*measured).hogged = true;
      spin_until(now_ns() + 5'000'000);
      (*measured).hogged = false;
      ::usleep(8000);
    }
  }

  Pipe stamps_, go_;

 public:
  ChildProcess waiter, waker;
};

bool within_10_percent(std::uint64_t found, std::uint64_t expected) {
  const double difference = std::fabs(static_cast<double>(found) - static_cast<double>(expected));
  return difference <= 0.1 * static_cast<double>(expected);
}

// The contention as the probe and others measured it.
struct Observed {
  Histogram waiter, waker;                  // delays that the probe charged
  std::uint64_t waiter_delay, waker_delay;  // the kernel's values for the threads
  std::uint64_t waiter_stamps;              // measured by the waiter
};

Observed observe(Probe& probe, Contention& contention) {
  const CgroupTree tree = real_tree();
  const std::vector<CgroupDirectory> watched = {must(tree.directory(contention.waiting.dir())),
                                                must(tree.directory(contention.waking.dir()))};
  Windows windows;
  windows.advance(must(probe.read(watched)));
  const std::uint64_t waiter_before = run_delay_ns(contention.waiter);
  const std::uint64_t waker_before = run_delay_ns(contention.waker);
  contention.run();
  windows.advance(must(probe.read(watched)));
  return {windows.of(watched[0].id), windows.of(watched[1].id), run_delay_ns(contention.waiter) - waiter_before,
          run_delay_ns(contention.waker) - waker_before, (*contention.measured).delay_ns};
}

void check_known_answer(Source source) {
  Contention contention;  // created before the probe, because existing threads must be counted as well
  auto probe = open_or_skip(source);
  if (!probe) return;
  const Observed observed = observe(*probe, contention);
  INFO("waits: waiter ", observed.waiter.count, " waker ", observed.waker.count);
  INFO("waiter: charged ", observed.waiter.sum_ns, " kernel ", observed.waiter_delay, " own ", observed.waiter_stamps);
  INFO("waker: charged ", observed.waker.sum_ns, " kernel ", observed.waker_delay);
  // If the scheduler picks the same thread again without a switch, the end of a wait is not noticed, and the next wait
  // includes both.
  CHECK(observed.waiter.count >= kRounds * 9 / 10);
  CHECK(within_10_percent(observed.waiter.sum_ns, observed.waiter_delay));
  // The waiter's own clock also includes the way into and out of the kernel, which takes long on an emulated machine.
  CHECK(observed.waiter.sum_ns <= observed.waiter_stamps * 11 / 10);
  CHECK(observed.waiter.sum_ns >= observed.waiter_stamps / 2);
  CHECK(observed.waker.count >= kRounds * 9 / 10);
  // On a busy machine the waker waits too. The waiter's delay must not be charged to it.
  CHECK(observed.waker.sum_ns < observed.waker_delay + observed.waiter.sum_ns / 2);
}

const CgroupDirectory* no_directories = nullptr;
Reading read_all(Probe& probe) { return must(probe.read({no_directories, 0})); }

bool has(const std::vector<koord::latency::CgroupTotal<Waits>>& cgroups, std::uint64_t id) {
  for (const auto& cgroup : cgroups)
    if (cgroup.cgroup == id) return true;
  return false;
}

// A cgroup in which a thread has waited for a CPU, at least at its start.
struct Lived {
  explicit Lived(const char* name) : cgroup(name), id(must(real_tree().directory(cgroup.dir())).id) {
    ChildProcess process([this] {
      cgroup.add_process(::getpid());
      for (int i = 0; i < 5; ++i) ::usleep(200);
    });
    REQUIRE(process.wait(std::chrono::seconds(10)));
  }
  RealCgroup cgroup;
  std::uint64_t id;
};

void check_reuse(Source source) {
  auto probe = open_or_skip(source);
  if (!probe) return;
  Lived container("short");
  CHECK(has(read_all(*probe).cgroups, container.id));
  container.cgroup.remove();
  const Reading removed = read_all(*probe);
  CHECK(has(removed.ended, container.id));
  CHECK_FALSE(has(removed.cgroups, container.id));
  const Reading after = read_all(*probe);
  CHECK_FALSE(has(after.ended, container.id));
  CHECK_FALSE(has(after.cgroups, container.id));
}

}  // namespace

TEST_CASE("sched_info charges a delay to the cgroup that waited, at its true length") {
  check_known_answer(Source::sched_info);
}

TEST_CASE("task_storage charges a delay to the cgroup that waited, at its true length") {
  check_known_answer(Source::task_storage);
}

TEST_CASE("raw_tracepoint charges a delay to the cgroup that waited, at its true length") {
  check_known_answer(Source::raw_tracepoint);
}

TEST_CASE("schedstat charges a delay to the cgroup that waited, at its true length") {
  check_known_answer(Source::schedstat);
}

TEST_CASE("a removed cgroup is reported once with its last total, from sched_info") { check_reuse(Source::sched_info); }

TEST_CASE("a removed cgroup is reported once with its last total, from task_storage") {
  check_reuse(Source::task_storage);
}

TEST_CASE("a removed cgroup is reported once with its last total, from raw_tracepoint") {
  check_reuse(Source::raw_tracepoint);
}

TEST_CASE("waits for which no slot was free are counted, and lengthen no cgroup's histogram") {
  auto probe = open_or_skip(Source::sched_info, {.slots = 2});  // one of them is for unassigned waits
  if (!probe) return;
  Lived first("first"), second("second");
  const Reading reading = read_all(*probe);
  CHECK(reading.slots == 1);
  CHECK(reading.slots_used == 1);
  CHECK(reading.unassigned->count > 0);
  CHECK_FALSE((has(reading.cgroups, first.id) && has(reading.cgroups, second.id)));
}

TEST_CASE("the slot of a removed cgroup is emptied and used for the next cgroup") {
  auto probe = open_or_skip(Source::sched_info, {.slots = 64});
  if (!probe) return;
  for (int i = 0; i < 200; ++i) {
    Lived container("churn");
    container.cgroup.remove();
    const Reading reading = read_all(*probe);
    CHECK(has(reading.ended, container.id));
    for (const auto& ended : reading.ended) CHECK(ended.total.count < 100);
  }
  CHECK(read_all(*probe).unassigned->count == 0);
}

TEST_CASE("a probe takes the cheapest source and says why it did not take a cheaper one") {
  ProbeOptions options;
  auto opened = koord::sched_latency::open_probe(real_tree(), options);
  REQUIRE(opened);
  CHECK(opened->probe->source() == koord::sched_latency::kSources[opened->refused.size()]);
  for (const auto& refusal : opened->refused) CHECK_FALSE(refusal.why.empty());
}

TEST_CASE("a source that the kernel refuses is an error with the reason in it") {
  ProbeOptions options{.btf = "/dev/null", .only = Source::sched_info};
  auto opened = koord::sched_latency::open_probe(real_tree(), options);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().message().find("sched_info: ") != std::string::npos);
}

TEST_CASE("time that a container's own quota takes is throttled time, and no wait, as cpu.stat says") {
  auto probe = open_or_skip(Source::sched_info);
  if (!probe) return;
  RealCgroup limited("limited");
  koord::test::set_weight(limited, 10'000);  // preferred to everything else during this test
  limited.limit_cpu(0.2);
  const std::uint64_t id = must(real_tree().directory(limited.dir())).id;
  Windows windows;
  windows.advance(read_all(*probe));
  Waits all;
  auto spinning = std::make_unique<ChildProcess>([&] {
    limited.add_process(::getpid());
    pin_to_first_cpu();
    for (;;) asm volatile("");
  });
  const auto read = [&] {
    windows.advance(read_all(*probe));
    all += windows.of(id);
  };
  REQUIRE(eventually(
      [&] {
        read();
        return all.throttled_ns > 2'000'000'000;
      },
      std::chrono::seconds(60)));
  const std::uint64_t delay = run_delay_ns(*spinning);
  read();
  // Waits plus throttled time equal the kernel's run delay, all of which counted as waits before.
  MESSAGE("waited " << double(all.sum_ns) / 1e6 << " ms, throttled " << double(all.throttled_ns) / 1e6
                    << " ms, run delay " << double(delay) / 1e6 << " ms");
  CHECK(double(all.sum_ns + all.throttled_ns) == doctest::Approx(double(delay)).epsilon(0.05));
  spinning.reset();
  read();
  const std::string stat = must(koord::read_file(limited.path(koord::cgroup::Controller::cpu) + "/cpu.stat"));
  const double kernel = double(koord::find_flat_key(stat, "throttled_time")
                                   .value_or(koord::find_flat_key(stat, "throttled_usec").value_or(0) * 1000));
  MESSAGE("the kernel says " << kernel / 1e6 << " ms");
  // The process may have ended while throttled, which is at most one period.
  CHECK(double(all.throttled_ns) <= 1.01 * kernel);
  CHECK(double(all.throttled_ns) >= 0.99 * kernel - 100e6);
}

int main(int argc, char** argv) { return koord::test::run_with_cgroups(argc, argv); }
