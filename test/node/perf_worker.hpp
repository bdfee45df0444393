// SPDX-License-Identifier: Apache-2.0
// A cgroup of the real kernel for perf_event counters, and a process in it that uses a known amount of CPU and memory
// when a test requests it.
#pragma once

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/base/file.hpp"
#include "plugins/shared/counters/perf_hierarchy.hpp"
#include "test/support/child_process.hpp"
#include "test/support/eventually.hpp"
#include "test/support/must.hpp"

namespace koord::performance {

using test::must;

inline std::string tree() { return must(find_perf_hierarchy("/sys/fs/cgroup")); }

inline constexpr double kBurnedSeconds = 0.3;
inline constexpr std::size_t kTouchedPages = 2000;

// A cgroup in the perf_event hierarchy, which RealCgroup does not include.
class PerfCgroup {
 public:
  explicit PerfCgroup(const std::string& name) : dir_("koord-test-" + name + "-" + std::to_string(::getpid())) {
    make();
  }
  PerfCgroup(const PerfCgroup& parent, const std::string& name) : dir_(parent.dir_ + "/" + name) { make(); }
  PerfCgroup(const PerfCgroup&) = delete;
  PerfCgroup& operator=(const PerfCgroup&) = delete;
  ~PerfCgroup() {
    test::eventually([&] { return ::rmdir(path().c_str()) == 0 || errno != EBUSY; }, std::chrono::seconds(5));
  }

  const std::string& dir() const { return dir_; }
  std::string path() const { return tree() + "/" + dir_; }
  void enter() const { must_write(path() + "/cgroup.procs", "0"); }

 private:
  static void must_write(const std::string& path, const std::string& value) {
    if (auto written = write_value(path, value); !written) throw std::runtime_error(written.error().message());
  }
  void make() const {
    if (::mkdir(path().c_str(), 0755) != 0) throw std::runtime_error("cannot make '" + path() + "'");
  }

  std::string dir_;
};

inline double own_cpu_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

inline void touch_new_pages() {
  const std::size_t bytes = kTouchedPages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ::madvise(memory, bytes, MADV_NOHUGEPAGE);
  for (std::size_t at = 0; at < bytes; at += static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)))
    static_cast<volatile char*>(memory)[at] = 1;
  ::munmap(memory, bytes);
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
  double read() const {
    double value = 0;
    if (::read(ends[0], &value, sizeof value) != sizeof value) throw std::runtime_error("the other end is gone");
    return value;
  }
  void write(double value) const {
    if (::write(ends[1], &value, sizeof value) != sizeof value) throw std::runtime_error("the other end is gone");
  }

  std::array<int, 2> ends{};
};

// A process in the cgroup that works on request, and reports the CPU time used for it.
class Worker {
 public:
  explicit Worker(const PerfCgroup& cgroup)
      : process_([this, &cgroup] {
          cgroup.enter();
          answer_.write(0);
          for (;;) {
            order_.read();
            const double before = own_cpu_seconds();
            touch_new_pages();
            while (own_cpu_seconds() < before + kBurnedSeconds) asm volatile("");
            answer_.write(own_cpu_seconds() - before);
          }
        }) {
    answer_.read();
    wait_until_asleep();
  }

  // Returns the CPU seconds that it used.
  double work() const {
    order_.write(1);
    const double used = answer_.read();
    wait_until_asleep();
    return used;
  }

 private:
  void wait_until_asleep() const {
    const std::string status = "/proc/" + std::to_string(process_.pid()) + "/status";
    REQUIRE(test::eventually([&] { return must(read_file(status)).find("State:\tS") != std::string::npos; }));
  }

  Pipe order_, answer_;
  test::ChildProcess process_;
};

}  // namespace koord::performance
