// SPDX-License-Identifier: Apache-2.0
// A plugin that plays the role of its configuration in each tick: {"part": "segv"}.
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <koordetector/plugin.hpp>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

using namespace koord::plugin;

namespace {

// The context of a role's function. It runs in each tick, after the plugin's metrics are defined.
struct TickContext {
  const koord_host* host;
  std::uint64_t now_ns;
  std::uint64_t series;
  double count;
};

void append(const TickContext& context, double value) {
  Batch batch(context.host);
  batch.add(context.series, value);
  batch.send(context.now_ns);
}

// Crashes as in a process without a sanitizer.
void crash() {
  ::signal(SIGSEGV, SIG_DFL);
  ::raise(SIGSEGV);
}

// Dereferences a null pointer, a frequent mistake. The pointer is volatile, because otherwise the compiler replaces the
// access by a trap.
__attribute__((no_sanitize("undefined"))) void dereference_null() {
  ::signal(SIGSEGV, SIG_DFL);
  static volatile int* volatile nothing = nullptr;
  *nothing = 1;
}

// Allocates 10 MB and touches them.
void leak() {
  constexpr std::size_t kBytes = 10 << 20;
  auto* memory = static_cast<volatile char*>(std::malloc(kBytes));
  for (std::size_t i = 0; memory && i < kBytes; i += 4096) memory[i] = 1;
}

// Forks until it is refused, and reports the number of processes; as a negative number if it was not refused.
void fork_many(const TickContext& context) {
  std::vector<pid_t> made;
  bool refused = false;
  int ends[2];  // the forked processes end with the pipe, because a plugin may not signal them
  if (::pipe(ends) != 0) return;
  while (!refused && made.size() < 200) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::close(ends[1]);
      char byte;
      [[maybe_unused]] const ssize_t end = ::read(ends[0], &byte, 1);
      ::_exit(0);
    }
    refused = pid < 0;
    if (!refused) made.push_back(pid);
  }
  ::close(ends[0]);
  ::close(ends[1]);
  for (pid_t pid : made) ::waitpid(pid, nullptr, 0);
  const auto count = static_cast<double>(made.size());
  append(context, refused ? count : -count);
}

// Sends each request immediately after the answer to the previous one.
void flood_requests(const TickContext& context) {
  const auto* fs = static_cast<const koord_svc_fs*>(context.host->get_service(context.host, "koord.fs/1"));
  static std::vector<char> buffer(1 << 20);
  for (int i = 0; i < 200; ++i) {
    std::uint64_t need = 0;
    fs->read(context.host, KOORD_ROOT_PROC, str("flood"), buffer.data(), buffer.size(), &need);
  }
  append(context, context.count);
}

// Sends a hundred of the cheapest requests.
void ask_the_clock(const TickContext& context) {
  const auto* clock = require<koord_svc_clock>(context.host, "koord.clock/1");
  for (int i = 0; i < 100; ++i) clock->now_ns(context.host);
}

// Sends an unexpected descriptor over the service channel.
void send_descriptor(const TickContext&) {
  constexpr int kServices = 5;
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return;
  char form = 'd';
  iovec piece{&form, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &pair[0], sizeof(int));
  ::sendmsg(kServices, &message, MSG_NOSIGNAL);
}

// Appends values that the host refuses. Reports the statuses as one number.
void append_bad(const TickContext& context) {
  const auto* metrics =
      static_cast<const koord_svc_metrics*>(context.host->get_service(context.host, "koord.metrics/1"));
  const koord_point infinite{context.series, HUGE_VAL}, unknown{(1ull << 32) | 999'999, 1}, good{context.series, 1};
  const bool refused =
      metrics->append(context.host, context.now_ns, &infinite, 1, sizeof infinite) == KOORD_E_INVALID &&
      metrics->append(context.host, context.now_ns, &unknown, 1, sizeof unknown) == KOORD_E_INVALID &&
      metrics->append(context.host, context.now_ns + 3'600'000'000'000, &good, 1, sizeof good) == KOORD_E_INVALID;
  append(context, refused ? 77 : -1);
}

// Starts a process that should outlive the plugin, and reports its number.
void leave_one_behind(const TickContext& context) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setsid();
    ::setpgid(0, 0);
    for (;;) ::pause();
  }
  append(context, pid);
}

// Starts threads until it is refused, and reports their number.
void start_many_threads(const TickContext& context) {
  std::vector<std::thread> threads;
  double made = 0;
  for (int i = 0; i < 200; ++i) {
    try {
      threads.emplace_back([] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); });
      ++made;
    } catch (const std::system_error&) {
      break;
    }
  }
  for (std::thread& thread : threads) thread.join();
  append(context, made);
}

// Returns the current capabilities of this process, from the kernel.
double effective_capabilities() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("CapEff:", 0) == 0) return static_cast<double>(std::stoull(line.substr(7), nullptr, 16));
  return -1;
}

// The capabilities while the file was mapped.
const double capabilities_when_mapped = effective_capabilities();

// Makes an empty request of bpf(2). Returns the errno.
double ask_for_bpf() { return ::syscall(SYS_bpf, 0, nullptr, 0) == 0 ? 0 : errno; }

// Appends -2 and queries it immediately. Reports 1 if the cache has it, -1 if not.
void recall(const TickContext& context) {
  append(context, -2);
  const auto* metrics = require<koord_svc_metrics>(context.host, "koord.metrics/1");
  const koord_query query{
      sizeof query,       KOORD_AGG_LAST, str("actor_count"), context.now_ns, 0, KOORD_NO_SUBJECT, nullptr, 0,
      sizeof(koord_label)};
  koord_agg_row row = {};
  std::uint32_t rows = 0;
  koord_status status = metrics->aggregate(context.host, &query, &row, 1, sizeof row, &rows);
  append(context, status == KOORD_OK && rows == 1 && row.value == -2 ? 1 : -1);
}

// Sends a request to the agent as an operator would, over the socket that the configuration names. Returns the status
// of the answer, or a negative errno.
double operate(const koord_host* host) {
  const std::string path = Config(host).string("/socket").value_or(""),
                    target = Config(host).string("/target").value_or("");
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int why = errno;
    ::close(fd);
    return -why;
  }
  const std::string request =
      "POST " + target + " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  char answer[64] = {};
  const bool answered =
      ::send(fd, request.data(), request.size(), MSG_NOSIGNAL) > 0 && ::recv(fd, answer, sizeof answer - 1, 0) > 12;
  ::close(fd);
  return answered ? std::atof(answer + std::string_view("HTTP/1.1 ").size()) : -EIO;
}

// Keeps a CPU busy for this time.
void spin(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

void play(const std::string& part, const TickContext& context) {
  if (part == "count" || part == "ignore stop") return append(context, context.count);
  if (part == "segv" || (part == "segv later" && context.count == 3)) return crash();
  if (part == "null later" && context.count == 3) return dereference_null();
  if (part == "segv later" || part == "null later") return append(context, context.count);
  if (part == "exit") ::_exit(3);
  if (part == "throw") throw std::runtime_error("the actor's text");
  if (part == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
  if (part == "close") {
    ::close_range(3, ~0u, 0);
    return append(context, context.count);  // continues as usual
  }
  if (part == "mute") {
    ::close(STDOUT_FILENO);
    ::close(STDERR_FILENO);
    return append(context, context.count);
  }
  if (part == "garbage" && ::write(5, "garbage", 7) == 7) return;
  if (part == "print") return static_cast<void>(std::puts("printed by the actor"));
  if (part == "leak") return leak();
  if (part == "fork") return fork_many(context);
  if (part == "flood requests") return flood_requests(context);
  if (part == "ask the clock") return ask_the_clock(context);
  if (part == "send a descriptor") return send_descriptor(context);
  if (part == "append bad values") return append_bad(context);
  if (part == "leave one behind") return context.count == 1 ? leave_one_behind(context) : void();
  if (part == "threads") return start_many_threads(context);
  if (part == "mount") append(context, ::mount("none", "/mnt", "tmpfs", 0, nullptr) == 0 ? 0 : errno);
  if (part == "spin") return spin(std::chrono::hours(1));
  if (part == "busy") {
    if (context.count == 1) std::thread(spin, std::chrono::hours(1)).detach();  // runs in parallel to the ticks
    return append(context, context.count);
  }
  if (part == "bpf") return append(context, ask_for_bpf());
  if (part == "constructed") return append(context, capabilities_when_mapped);
  if (part == "recall") return recall(context);
  if (part == "operate") return append(context, operate(context.host));
  if (part == "knobs") return append(context, context.host->get_service(context.host, "koord.knobs/1") ? 1 : -1);
  if (part == "batch") {
    Batch batch(context.host);
    for (int i = 0; i < 64; ++i) batch.add(context.series, i);
    return batch.send(context.now_ns);
  }
  if (part == "flood") {
    for (int i = 0; i < 100'000; ++i) append(context, i);
  }
}

std::string part_of(const koord_host* host) {
  const auto* config = require<koord_svc_config>(host, "koord.config/1");
  char buffer[64];
  std::uint64_t need = 0;
  koord_status status = config->string(host, str("/part"), buffer, sizeof buffer, &need);
  return status == KOORD_OK ? std::string(buffer, need) : "count";
}

}  // namespace

struct Actor : Advisor {
  void init() override {
    part_ = part_of(host());
    if (part_ == "ignore stop" || part_ == "hang in init") ::signal(SIGTERM, SIG_IGN);
    if (part_ == "hang in init") std::this_thread::sleep_for(std::chrono::hours(1));
    count_ = define({"actor_count", "", "how often the actor acted", 1}).series();
  }
  void collect(std::uint64_t now_ns, std::uint64_t) override { play(part_, {host(), now_ns, count_, ++ticks_}); }
  void stop() override {
    if (part_ == "ignore stop") std::this_thread::sleep_for(std::chrono::hours(1));
  }
  void on_event(std::uint32_t, std::uint64_t) override {
    std::string part = part_of(host());
    if (part == "refused") throw Failure(KOORD_E_INVALID, "no such part in this play");
    part_ = part;
  }

  std::string part_;
  std::uint64_t count_ = 0;
  double ticks_ = 0;
};

constexpr const char* kSchema = R"({"type": "object", "properties": {"part": {"type": "string"}}})";

struct Looker : Advisor {
  void init() override {
    state_ = require<koord_svc_state>(host(), "koord.state/1");
    pods_ = define({"looker_pods", "", "pods in the state", 1}).series();
  }
  void on_event(std::uint32_t, std::uint64_t) override {}  // changes of the configuration have no effect
  void collect(std::uint64_t now_ns, std::uint64_t) override {
    Snapshot state(host(), state_);
    Batch batch(host());
    batch.add(pods_, static_cast<double>(state.pods().size()));
    batch.send(now_ns);
  }
  void run(const Stop& stop) override {
    if (part_of(host()) == "fail in run") throw Failure(KOORD_E_IO, std::string(5000, 'x'));
    stop.wait(std::chrono::hours(1));
  }
  const koord_svc_state* state_ = nullptr;
  std::uint64_t pods_ = 0;
};

KOORD_PLUGIN("id=com.example.actor\nversion=1.0.0\nkinds=koord.advisor/1\ngate=Actor\n"
             "requires=koord.metrics/1,koord.config/1,koord.state/1\n",
             advisor<Actor>("actor", std::chrono::milliseconds(5), kSchema),
             advisor<Looker>("looker", std::chrono::milliseconds(5)))
