// SPDX-License-Identifier: Apache-2.0
// Services with clients, and neighbours, for the benchmark's mix of workloads.
//
//   load service FILE RATE WORK_US THREADS BURN_THREADS BURN_MS [CGROUP_PROCS...]
//   load batch FILE THREADS [CGROUP_PROCS...]
//   load neighbour KIND THREADS [CGROUP_PROCS...]     KIND: hog, burst, short, gentle or forks
//
// A service answers RATE requests per second with THREADS threads; each request uses WORK_US of CPU time. BURN_THREADS
// additional threads, which answer no requests, use the CPU for BURN_MS of each second. The client is outside of the
// service's cgroups and has real-time priority, so it waits only for the service. It writes one line for each answer:
// the time at which the request was due, in ms of the monotonic clock, and the delay of the answer after that, in us. A
// batch writes its amount of work each 100 ms. All run until SIGTERM.
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::int64_t kUs = 1'000, kMs = 1'000'000, kSecond = 1'000'000'000;

std::int64_t clock_ns(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

std::int64_t now_ns() { return clock_ns(CLOCK_MONOTONIC); }

void sleep_until(std::int64_t ns) {
  const timespec when{ns / kSecond, ns % kSecond};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) == EINTR) {
  }
}

// Uses this much CPU time, however long that takes.
void work(std::int64_t ns) {
  const std::int64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
  while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}

[[noreturn]] void fail(const std::string& what) {
  std::perror(("load: " + what).c_str());
  std::_Exit(1);
}

void enter(std::span<char*> cgroups) {
  for (const char* cgroup : cgroups) {
    const int file = ::open(cgroup, O_WRONLY | O_CLOEXEC);
    if (file < 0 || ::write(file, "0", 1) != 1) fail(cgroup);
    ::close(file);
  }
}

// Burns in each period, at an offset that differs from thread to thread.
[[noreturn]] void burn(std::int64_t period, std::int64_t used, std::int64_t offset) {
  for (std::int64_t next = now_ns() + offset;; next += period) {
    sleep_until(next);
    work(used);
  }
}

struct Request {
  std::int64_t due_ns;
};

[[noreturn]] void answer(int socket, std::int64_t work_ns) {
  for (Request request; ::recv(socket, &request, sizeof request, 0) == sizeof request;) {
    work(work_ns);
    if (::send(socket, &request, sizeof request, 0) != sizeof request) break;
  }
  std::_Exit(0);
}

struct Service {
  std::int64_t rate, work_us;
  int threads, burn_threads;
  std::int64_t burn_ms;
};

[[noreturn]] void serve(int socket, const Service& service) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<std::thread> threads;
  for (int i = 1; i < service.threads; ++i) threads.emplace_back([&] { answer(socket, service.work_us * kUs); });
  for (int i = 0; i < service.burn_threads; ++i)
    threads.emplace_back([&, i] { burn(kSecond, service.burn_ms * kMs, i * 37 * kMs); });
  answer(socket, service.work_us * kUs);
}

// Sends each request when it is due, even if the last one is not answered yet.
void send_requests(int socket, std::int64_t rate) {
  for (std::int64_t due = now_ns();; due += kSecond / rate) {
    sleep_until(due);
    const Request request{due};
    if (::send(socket, &request, sizeof request, 0) != sizeof request) return;
  }
}

int ask(int socket, const Service& service, FILE* out) {
  const sched_param priority{.sched_priority = 10};
  if (::sched_setscheduler(0, SCHED_FIFO, &priority) != 0) fail("real-time priority for the client");
  std::thread([&] { send_requests(socket, service.rate); }).detach();
  for (Request request; ::recv(socket, &request, sizeof request, 0) == sizeof request;)
    std::fprintf(out, "%lld %lld\n", static_cast<long long>(request.due_ns / kMs),
                 static_cast<long long>((now_ns() - request.due_ns) / kUs));
  return 0;
}

int run_service(const char* path, const Service& service, std::span<char*> cgroups) {
  FILE* out = std::fopen(path, "w");
  std::array<int, 2> ends;
  if (!out || ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) fail(path);
  std::setvbuf(out, nullptr, _IOLBF, 1 << 16);
  if (::fork() == 0) {
    ::close(ends[0]);
    enter(cgroups);
    serve(ends[1], service);
  }
  ::close(ends[1]);
  return ask(ends[0], service, out);
}

int run_batch(const char* path, int threads, std::span<char*> cgroups) {
  FILE* out = std::fopen(path, "w");
  if (!out) fail(path);
  enter(cgroups);
  std::atomic<std::int64_t> done = 0;
  for (int i = 0; i < threads; ++i)
    std::thread([&] {
      for (;; ++done) work(100 * kUs);
    }).detach();
  for (std::int64_t next = now_ns();; next += 100 * kMs) {
    sleep_until(next);
    std::fprintf(out, "%lld %lld\n", static_cast<long long>(next / kMs), static_cast<long long>(done.exchange(0)));
    std::fflush(out);
  }
}

[[noreturn]] void fork_for_ever() {
  for (;;) {
    const pid_t child = ::fork();
    if (child == 0) {
      work(300 * kUs);
      std::_Exit(0);
    }
    ::waitpid(child, nullptr, 0);
  }
}

[[noreturn]] void disturb(std::string_view kind, int number) {
  if (kind == "hog") burn(kMs, kSecond, 0);
  if (kind == "burst") burn(100 * kMs, 30 * kMs, 0);
  if (kind == "short") burn(kMs, 200 * kUs, number * 130 * kUs);
  if (kind == "gentle") burn(50 * kMs, kMs, number * 7 * kMs);
  if (kind == "forks") fork_for_ever();
  std::fprintf(stderr, "load: unknown neighbour '%s'\n", std::string(kind).c_str());
  std::_Exit(2);
}

int run_neighbour(std::string_view kind, int threads, std::span<char*> cgroups) {
  enter(cgroups);
  for (int i = 1; i < threads; ++i) std::thread([kind, i] { disturb(kind, i); }).detach();
  disturb(kind, 0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char*> words(argv + 1, static_cast<std::size_t>(argc - 1));
  const std::string_view mode = words.empty() ? "" : words[0];
  if (mode == "service" && words.size() >= 7)
    return run_service(words[1],
                       {.rate = std::atoll(words[2]),
                        .work_us = std::atoll(words[3]),
                        .threads = std::atoi(words[4]),
                        .burn_threads = std::atoi(words[5]),
                        .burn_ms = std::atoll(words[6])},
                       words.subspan(7));
  if (mode == "batch" && words.size() >= 3) return run_batch(words[1], std::atoi(words[2]), words.subspan(3));
  if (mode == "neighbour" && words.size() >= 3) return run_neighbour(words[1], std::atoi(words[2]), words.subspan(3));
  std::fprintf(stderr, "load: the first lines of load.cpp say how to use it\n");
  return 2;
}
