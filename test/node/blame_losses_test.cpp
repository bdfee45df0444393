// SPDX-License-Identifier: Apache-2.0
// No wait may be lost silently on a full node: 250 cgroups of pods that switch about 40 times per ms. The waits that
// the BPF programs attribute, plus those that they count as lost, must equal the scheduler's numbers for the same
// threads.
#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/base/unique_fd.hpp"
#include "plugins/advisor-interference/cpu_blame.hpp"
#include "test/support/child_process.hpp"
#include "test/support/cpu_workloads.hpp"
#include "test/support/real_cgroup.hpp"

namespace {

using koord::UniqueFd;
using koord::interference::Blame;
using koord::interference::CpuBlame;
using koord::interference::CpuReading;
using koord::interference::Lengths;
using koord::interference::Occupant;
using koord::latency::CgroupTree;
using koord::test::ChildProcess;
using koord::test::eventually;
using koord::test::RealCgroup;

constexpr int kPods = 250;
constexpr std::size_t kTokens = 100;  // pods that want a CPU at the same time: 50 turns cause waits of more than 1 ms
constexpr std::uint64_t kPasses = 200'000;
constexpr long kTurnNs = 35'000;

template <class T>
T must(koord::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  return std::move(result).value();
}

CgroupTree real_tree() { return must(CgroupTree::find("cpu", "/sys/fs/cgroup", "/proc")); }

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
    out = UniqueFd(ends[0]);
    in = UniqueFd(ends[1]);
  }
  UniqueFd out, in;
};

// Waits, as counted by the kernel or by the programs.
struct Waits {
  std::uint64_t number = 0, ns = 0;

  friend Waits operator-(const Waits& a, const Waits& b) { return {a.number - b.number, a.ns - b.ns}; }
  void operator+=(const Waits& other) {
    number += other.number;
    ns += other.ns;
  }
};

// A ring of pods. Each has a process that takes a token, works for some microseconds, and passes the token on.
class Ring {
 public:
  Ring() : parent_("losses") {
    koord::test::set_weight(parent_, 1000);  // preferred to most other load during this test
    for (int i = 0; i < kPods; ++i) pipes_.push_back(std::make_unique<Pipe>());
    for (std::size_t i = 0; i < kPods; ++i) {
      cgroups_.push_back(std::make_unique<RealCgroup>(parent_, "pod" + std::to_string(i)));
      ids_.push_back(must(real_tree().directory(cgroups_.back()->dir())).id);
      processes_.push_back(std::make_unique<ChildProcess>([this, i] {
        cgroups_[i]->add_process(::getpid());
        pass(pipes_[i]->out.get(), pipes_[(i + 1) % kPods]->in.get());
      }));
    }
  }

  // Sends the tokens round until they have been passed on this many times, then removes them. After that no process
  // waits.
  void turn(std::uint64_t passes) {
    shared_->left = static_cast<std::int64_t>(passes);
    const std::uint64_t end = shared_->taken_out + kTokens;
    for (std::size_t i = 0; i < kTokens; ++i) REQUIRE(::write(pipes_[i * kPods / kTokens]->in.get(), "x", 1) == 1);
    REQUIRE(eventually(
        [&] {
          if (shared_->taken_out != end) return false;
          for (const auto& process : processes_)
            if (state_of(process->pid()) != 'S') return false;
          return true;
        },
        std::chrono::minutes(3)));
  }

  Waits of_kernel(std::size_t pod) const {
    const auto fields = koord::split(koord::trim(proc(processes_[pod]->pid(), "schedstat")), ' ');
    return {must(koord::parse_uint(fields.at(2))), must(koord::parse_uint(fields.at(1)))};
  }
  Waits all_of_kernel() const {
    Waits sum;
    for (std::size_t pod = 0; pod < kPods; ++pod) sum += of_kernel(pod);
    return sum;
  }
  std::uint64_t id(std::size_t pod) const { return ids_[pod]; }

 private:
  static std::string proc(pid_t pid, const char* file) {
    return must(koord::read_file("/proc/" + std::to_string(pid) + "/" + file));
  }
  static char state_of(pid_t pid) {
    const std::string stat = proc(pid, "stat");
    return stat.at(stat.rfind(')') + 2);
  }
  [[noreturn]] void pass(int from, int to) const {
    char token = 0;
    while (::read(from, &token, 1) == 1) {
      koord::test::work(kTurnNs);
      if (shared_->left.fetch_sub(1) <= 0)
        ++shared_->taken_out;
      else if (::write(to, &token, 1) != 1)
        break;
      ::sched_yield();  // the next token may already be there
    }
    ::_exit(0);
  }

  struct Shared {
    std::atomic<std::int64_t> left{0};
    std::atomic<std::uint64_t> taken_out{0};
  };
  static Shared* share() {
    void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
    return new (memory) Shared;
  }
  struct Unshare {
    void operator()(Shared* shared) const { ::munmap(shared, sizeof(Shared)); }
  };

  std::unique_ptr<Shared, Unshare> shared_{share()};
  RealCgroup parent_;
  std::vector<std::unique_ptr<Pipe>> pipes_;
  std::vector<std::unique_ptr<RealCgroup>> cgroups_;
  std::vector<std::uint64_t> ids_;
  std::vector<std::unique_ptr<ChildProcess>> processes_;  // destroyed first, so the processes end first
};

// The numbers of the programs.
struct Counted {
  explicit Counted(CpuBlame& blame) { read(blame); }

  void read(CpuBlame& blame) {
    const CpuReading reading = must(blame.read(Lengths::all));
    for (const auto& cgroup : reading.waits.cgroups) {
      Waits& one = waits[cgroup.cgroup];
      one = {cgroup.total.count, cgroup.total.sum_ns + cgroup.total.throttled_ns};
    }
    if (reading.waits.unassigned)
      unassigned = {reading.waits.unassigned->count,
                    reading.waits.unassigned->sum_ns + reading.waits.unassigned->throttled_ns};
    lost = reading.times.missed_events + reading.times.lost_begins;
    slots = reading.times.slots;
    slots_used = reading.times.slots_used;
    for (const auto& cgroup : reading.times.cgroups) long_ns[cgroup.cgroup] = cgroup.total.long_wait;
    for (const Blame& one : reading.blames)
      (one.occupant == Occupant::unknown ? unknown_ns : known_ns)[one.victim] += one.ns;
    unplaced_ns = reading.unplaced_ns;
  }

  std::unordered_map<std::uint64_t, Waits> waits;
  std::unordered_map<std::uint64_t, std::uint64_t> long_ns, known_ns, unknown_ns;  // since the start
  Waits unassigned;
  std::uint64_t lost = 0, unplaced_ns = 0;
  std::uint32_t slots = 0, slots_used = 0;
};

void check_losses(std::uint32_t slots) {
  Ring ring;
  CpuBlame blame = must(CpuBlame::open(real_tree(), {}, slots));
  ring.turn(4 * kPods);  // after this all processes are in their cgroups, and the programs have seen them
  Counted counted(blame);
  const Counted before = counted;
  std::vector<Waits> kernel_before;
  for (std::size_t pod = 0; pod < kPods; ++pod) kernel_before.push_back(ring.of_kernel(pod));

  const auto begin = std::chrono::steady_clock::now();
  ring.turn(kPasses);
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  counted.read(blame);
  Waits kernel, without_slot, ours;
  int pods_without_slot = 0;
  std::uint64_t long_ns = 0, known_ns = 0, unknown_ns = 0;
  const auto grown = [&](const auto& now, const auto& then, std::size_t pod) {
    const auto end = now.find(ring.id(pod)), start = then.find(ring.id(pod));
    return (end == now.end() ? 0 : end->second) - (start == then.end() ? 0 : start->second);
  };
  for (std::size_t pod = 0; pod < kPods; ++pod) {
    const Waits of_pod = ring.of_kernel(pod) - kernel_before[pod];
    kernel += of_pod;
    long_ns += grown(counted.long_ns, before.long_ns, pod);
    known_ns += grown(counted.known_ns, before.known_ns, pod);
    unknown_ns += grown(counted.unknown_ns, before.unknown_ns, pod);
    const auto now = counted.waits.find(ring.id(pod));
    const auto then = before.waits.find(ring.id(pod));
    if (now == counted.waits.end()) ++pods_without_slot;
    const Waits own =
        (now == counted.waits.end() ? Waits() : now->second) - (then == before.waits.end() ? Waits() : then->second);
    ours += own;
    // The pod may have got the slot of a cgroup that has ended since.
    if (then == before.waits.end())
      without_slot += {of_pod.number - std::min(own.number, of_pod.number), of_pod.ns - std::min(own.ns, of_pod.ns)};
  }
  const Waits unassigned = counted.unassigned - before.unassigned;
  const std::uint64_t lost = counted.lost - before.lost;
  const double switches_per_ms = double(kernel.number) / ms;
  MESSAGE(switches_per_ms << " switches per ms; the scheduler has " << kernel.number << " waits, "
                          << double(kernel.ns) / 1e6 << " ms; attributed " << ours.number << ", "
                          << double(ours.ns) / 1e6 << " ms; of pods without a slot " << without_slot.number
                          << ", unassigned " << unassigned.number << "; lost " << lost << "; slots "
                          << counted.slots_used << " of " << counted.slots);
  const std::uint64_t charged_ns = known_ns + unknown_ns, unplaced_ns = counted.unplaced_ns - before.unplaced_ns;
  MESSAGE("long waits " << double(long_ns) / 1e6 << " ms, charged to cgroups " << double(known_ns) / 1e6
                        << " ms, to an unknown one " << double(unknown_ns) / 1e6 << " ms; on the whole node without a "
                        << "place " << double(unplaced_ns) / 1e6 << " ms");
  REQUIRE(kernel.number >= kPasses / 2);
  // Number of waits.
  CHECK(ours.number + without_slot.number <= kernel.number);
  CHECK(ours.number + without_slot.number + lost >= kernel.number);
  CHECK(unassigned.number + lost >= without_slot.number);
  // Time of the waits.
  const Waits of_pods_with_slot = kernel - without_slot;
  CHECK(double(ours.ns) <= 1.001 * double(of_pods_with_slot.ns));
  CHECK(double(ours.ns) >= (lost == 0 ? 0.999 : 0.99) * double(of_pods_with_slot.ns));
  if (without_slot.number > 100 * lost) CHECK(double(unassigned.ns) >= 0.99 * double(without_slot.ns));
  // Time that is charged to culprits.
  CHECK(double(charged_ns) <= 1.001 * double(long_ns));
  CHECK(double(charged_ns + unplaced_ns) >= 0.999 * double(long_ns));
  CHECK(counted.slots_used <= counted.slots);
  CHECK((pods_without_slot == 0) == (slots == 0));
}

}  // namespace

TEST_CASE("250 pods with 40 switches per ms: each wait is attributed, or counted as lost") { check_losses(0); }

TEST_CASE("with fewer slots than pods, waits of those without one are counted") { check_losses(100); }

int main(int argc, char** argv) {
  if (auto why = RealCgroup::unavailable()) {
    std::printf("SKIPPED: no cgroups to measure: %s\n", why->c_str());
    return koord::test::kSkip;
  }
  if (auto blame = CpuBlame::open(real_tree()); !blame) {
    std::printf("SKIPPED: %s\n", blame.error().message().c_str());
    return koord::test::kSkip;
  }
  return doctest::Context(argc, argv).run();
}
