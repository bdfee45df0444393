// SPDX-License-Identifier: Apache-2.0
// Two neighbours on a node.
//
//   workload victim FILE       does small work at fixed intervals, and prints its delays every second
//   workload antagonist        uses every CPU and most of the pod's memory until it is killed
//
// The victim prints one line a second:
//   late_mean_us late_p99_us read_share late_total_s read_total_s
// The values are the delay after its timers (1,000 a second), the share of the time spent reading its file, and both as
// totals in seconds since its start. The file stays in the page cache until other memory displaces it. The victim ends
// when its output is closed.
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMiB = 1 << 20;
constexpr std::size_t kVictimFile = 64 * kMiB;
constexpr std::size_t kAntagonistMemory = 72 * kMiB;

bool fill(const char* path, std::size_t bytes) {
  int file = ::open(path, O_RDWR | O_CREAT, 0600);
  if (file < 0) return false;
  const std::vector<char> block(kMiB, 'x');
  for (std::size_t at = static_cast<std::size_t>(::lseek(file, 0, SEEK_END)); at < bytes; at += block.size())
    if (::write(file, block.data(), block.size()) != static_cast<ssize_t>(block.size())) return false;
  ::fsync(file);
  ::close(file);
  return true;
}

// Reads a file from start to end repeatedly. A call continues where the previous call ended.
class Reader {
 public:
  Reader(const char* path, std::size_t size) : file_(::open(path, O_RDONLY)), size_(size), buffer_(kMiB) {}
  ~Reader() { ::close(file_); }
  bool read(std::size_t bytes) {
    for (std::size_t done = 0; done < bytes; done += buffer_.size(), at_ = (at_ + buffer_.size()) % size_)
      if (::pread(file_, buffer_.data(), buffer_.size(), static_cast<off_t>(at_)) <= 0) return false;
    return true;
  }

 private:
  int file_;
  std::size_t size_, at_ = 0;
  std::vector<char> buffer_;
};

double microseconds(Clock::duration d) { return std::chrono::duration<double, std::micro>(d).count(); }

// Uses the given CPU time, however long that takes.
void compute(std::chrono::microseconds cpu) {
  const auto now = [] {
    timespec t;
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
  };
  for (const auto end = now() + cpu; now() < end;) asm volatile("");
}

int victim(const char* path) {
  if (!fill(path, kVictimFile)) return std::perror(path), 1;
  std::atomic<std::int64_t> reading_ns = 0;
  // Simulates a service: 100 times a second it does a little work on little data. A partner thread does half of the
  // work. Like many runtimes, the service spins while it waits for its partner. If a task keeps one of the two threads
  // off its CPU, the other thread uses up the quota of both.
  std::atomic<std::uint64_t> asked = 0, done = 0;
  std::thread([&] {
    for (std::uint64_t beat = 1;; ++beat) {
      asked.wait(beat - 1);
      compute(1ms);
      done = beat;
    }
  }).detach();
  std::thread([&, path] {
    Reader reader(path, kVictimFile);
    for (auto due = Clock::now();; due = std::max(due + 10ms, Clock::now())) {
      std::this_thread::sleep_until(due);
      const std::uint64_t beat = ++asked;
      asked.notify_one();
      compute(1ms);
      while (done < beat) asm volatile("");
      const auto begin = Clock::now();
      reader.read(2 * kMiB);
      reading_ns += (Clock::now() - begin).count();
    }
  }).detach();
  for (double late_us = 0;;) {
    std::vector<double> late;
    const auto begin = Clock::now();
    const std::int64_t reading_before = reading_ns;
    for (auto due = begin; due < begin + 1s; due += 1ms) {
      std::this_thread::sleep_until(due);
      const auto now = Clock::now();
      late.push_back(microseconds(now - due));
      due = std::max(due, now - 1ms);  // missed intervals are skipped
    }
    const double second = microseconds(Clock::now() - begin) * 1000;
    double sum = 0;
    for (double one : late) sum += one;
    std::sort(late.begin(), late.end());
    late_us += sum;
    const int written =
        std::printf("%.0f %.0f %.3f %.3f %.3f\n", sum / static_cast<double>(late.size()), late[late.size() * 99 / 100],
                    static_cast<double>(reading_ns - reading_before) / second, late_us / 1e6,
                    static_cast<double>(reading_ns) / 1e9);
    if (written < 0 || std::fflush(stdout) != 0) return 0;
  }
}

int antagonist() {
  for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i)
    std::thread([] {
      for (;;) asm volatile("");
    }).detach();
  std::vector<char> memory(kAntagonistMemory);
  for (char round = 1;; ++round) {
    for (std::size_t at = 0; at < memory.size(); at += 4096) memory[at] = round;
    std::this_thread::sleep_for(10ms);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string role = argc > 1 ? argv[1] : "";
  if (role == "victim" && argc == 3) return victim(argv[2]);
  if (role == "antagonist" && argc == 2) return antagonist();
  std::fputs("usage: workload victim FILE | antagonist\n", stderr);
  return 2;
}
