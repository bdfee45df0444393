// SPDX-License-Identifier: Apache-2.0
// A plugin that tries forbidden operations once when it starts, and reports each result as the metric probe_NAME: 0 if
// it was allowed, otherwise the errno.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <koordetector/plugin.hpp>
#include <string>
#include <thread>
#include <vector>

using namespace koord::plugin;

namespace {

double result_of(long returned) { return returned >= 0 ? 0 : errno; }

double opened(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  const double result = result_of(fd);
  if (fd >= 0) ::close(fd);
  return result;
}

std::string of_parent(const char* file) { return "/proc/" + std::to_string(::getppid()) + "/" + file; }

// Clones this process with these flags. A new process ends immediately.
double forked(long flags) {
  const long pid = ::syscall(SYS_clone, flags, 0, 0, 0, 0);
  if (pid == 0) ::_exit(0);
  return result_of(pid);
}

double socket_of(int family, int type) {
  const int fd = ::socket(family, type | SOCK_CLOEXEC, 0);
  const double result = result_of(fd);
  if (fd >= 0) ::close(fd);
  return result;
}

// Connects to a port without a listener: ECONNREFUSED if allowed.
double connect_tcp() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(1);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const double result = result_of(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address));
  ::close(fd);
  return result;
}

// Connects to the socket on which the test listens.
double connect_abstract() {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  sockaddr_un test{};
  test.sun_family = AF_UNIX;
  const int n =
      std::snprintf(test.sun_path + 1, sizeof test.sun_path - 1, "koord-test-prober-%d", static_cast<int>(::getppid()));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(n));
  const double result = result_of(::connect(fd, reinterpret_cast<sockaddr*>(&test), length));
  ::close(fd);
  return result;
}

double socket_pair(int type) {
  int ends[2];
  const double result = result_of(::socketpair(AF_UNIX, type, 0, ends));
  if (result == 0) ::close(ends[0]), ::close(ends[1]);
  return result;
}

double shared_memory() {
  const int id = ::shmget(IPC_PRIVATE, 1, 0600);
  const double result = result_of(id);
  if (id >= 0) ::shmctl(id, IPC_RMID, nullptr);
  return result;
}

double limit_of(int pid) {
  rlimit limit;
  return result_of(::syscall(SYS_prlimit64, pid, RLIMIT_NOFILE, nullptr, &limit));
}

double affinity_of(int pid) {
  cpu_set_t set;
  ::sched_getaffinity(0, sizeof set, &set);
  return result_of(::sched_setaffinity(pid, sizeof set, &set));
}

double run_program() {
  char name[] = "true";
  char* arguments[] = {name, nullptr};
  pid_t pid = 0;
  if (int error = ::posix_spawnp(&pid, "true", nullptr, nullptr, arguments, environ)) return error;
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

double run_thread() {
  double result = -1;
  std::thread([&] { result = 0; }).join();
  return result;
}

// Reads an unmapped address: EFAULT if allowed.
double read_memory_of(pid_t pid) {
  char byte = 0;
  iovec here{&byte, 1}, there{nullptr, 1};
  return result_of(::process_vm_readv(pid, &here, 1, &there, 1, 0));
}

double make_map() {
  bpf_attr attr{};
  attr.map_type = BPF_MAP_TYPE_ARRAY;
  attr.key_size = attr.value_size = 4;
  attr.max_entries = 1;
  const long fd = ::syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof attr);
  const double result = result_of(fd);
  if (fd >= 0) ::close(static_cast<int>(fd));
  return result;
}

double count_of(pid_t pid) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
  const long fd = ::syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
  const double result = result_of(fd);
  if (fd >= 0) ::close(static_cast<int>(fd));
  return result;
}

bool is_a_copy() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("/memfd:com.example.prober.so") != std::string::npos) return true;
  return false;
}

bool is_in_state_directory() {
  char path[4096];
  const char* named = std::getenv("KOORD_STATE_DIRECTORY");
  return named != nullptr && ::getcwd(path, sizeof path) != nullptr && std::string(path) == named;
}

struct Attempt {
  const char* name;
  double (*run)();
};

const Attempt kAttempts[] = {
    {"kill_parent", [] { return result_of(::kill(::getppid(), 0)); }},
    {"kill_all", [] { return result_of(::kill(-1, 0)); }},
    {"kill_self", [] { return result_of(::kill(::getpid(), 0)); }},
    {"tgkill_self", [] { return result_of(::syscall(SYS_tgkill, ::getpid(), ::gettid(), 0)); }},
    {"tgkill_parent", [] { return result_of(::syscall(SYS_tgkill, ::getppid(), ::getppid(), 0)); }},
    {"prlimit_parent", [] { return limit_of(::getppid()); }},
    {"prlimit_self", [] { return limit_of(0); }},
    {"affinity_parent", [] { return affinity_of(::getppid()); }},
    {"affinity_self", [] { return affinity_of(0); }},
    {"priority_parent", [] { return result_of(::setpriority(PRIO_PROCESS, static_cast<id_t>(::getppid()), 1)); }},
    // The user has no processes, so without a filter the result is ESRCH, and no priority changes.
    {"priority_user", [] { return result_of(::setpriority(PRIO_USER, 0xfffffff0u, 1)); }},
    // A nice value below the nice value of the test's session fails with EACCES.
    {"priority_self", [] { return result_of(::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0))); }},
    {"pidfd_parent", [] { return result_of(::syscall(SYS_pidfd_open, ::getppid(), 0)); }},
    {"pidfd_getfd", [] { return result_of(::syscall(SYS_pidfd_getfd, 0, 0, 0)); }},
    {"clone_user", [] { return forked(CLONE_NEWUSER | SIGCHLD); }},
    {"clone_parent", [] { return forked(CLONE_PARENT | SIGCHLD); }},
    {"clone", [] { return forked(SIGCHLD); }},
    {"clone3", [] { return result_of(::syscall(SYS_clone3, nullptr, 0)); }},
    {"unshare", [] { return result_of(::unshare(CLONE_NEWUSER)); }},
    {"ptrace", [] { return result_of(::syscall(SYS_ptrace, PTRACE_ATTACH, -1, 0, 0)); }},
    {"flock", [] { return result_of(::flock(::open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY), LOCK_EX | LOCK_NB)); }},
    {"keyctl", [] { return result_of(::syscall(SYS_keyctl, 0, 0, 0, 0, 0)); }},
    {"io_uring", [] { return result_of(::syscall(SYS_io_uring_setup, 1, nullptr)); }},
    {"shared_memory", shared_memory},
    {"io_setup",
     [] {
       unsigned long context = 0;
       return result_of(::syscall(SYS_io_setup, 1, &context));
     }},
    {"userfaultfd", [] { return result_of(::syscall(SYS_userfaultfd, 0)); }},
    {"mount_setattr", [] { return result_of(::syscall(SYS_mount_setattr, -1, "", 0, nullptr, 0)); }},
    {"personality", [] { return result_of(::personality(ADDR_NO_RANDOMIZE)); }},
    {"bpf_map", make_map},
    {"perf_init", [] { return count_of(1); }},
    {"socket_unix", [] { return socket_of(AF_UNIX, SOCK_STREAM); }},
    {"socket_tcp", [] { return socket_of(AF_INET, SOCK_STREAM); }},
    {"socket_tcp6", [] { return socket_of(AF_INET6, SOCK_STREAM); }},
    {"socket_udp", [] { return socket_of(AF_INET, SOCK_DGRAM); }},
    {"socket_netlink", [] { return socket_of(AF_NETLINK, SOCK_RAW); }},
    {"socket_packet", [] { return socket_of(AF_PACKET, SOCK_RAW); }},
    {"socketpair", [] { return socket_pair(SOCK_STREAM); }},
    {"socketpair_seqpacket", [] { return socket_pair(SOCK_SEQPACKET | SOCK_CLOEXEC); }},
    {"socketpair_datagram", [] { return socket_pair(SOCK_DGRAM); }},
    {"connect_tcp", connect_tcp},
    {"connect_abstract", connect_abstract},
    // Files of the test that every user may read. The state directory is two levels below the test's folder.
    {"read_granted", [] { return opened("../../granted/file", O_RDONLY); }},
    {"read_other", [] { return opened("../../other/file", O_RDONLY); }},
    {"write_granted", [] { return opened("../../granted/file", O_WRONLY); }},
    {"core_pattern", [] { return opened("/proc/sys/kernel/core_pattern", O_WRONLY); }},
    // The host's program, with its current mode, and with an attribute that it lacks: if allowed, nothing changes.
    {"chmod_program",
     [] {
       struct stat about;
       return result_of(::stat("/proc/self/exe", &about) == 0 ? ::chmod("/proc/self/exe", about.st_mode & 07777) : -1);
     }},
    {"xattr_program", [] { return result_of(::removexattr("/proc/self/exe", "user.koord-test")); }},
    {"write_tmp",
     [] {
       const std::string path = "/tmp/koord-test-prober-" + std::to_string(::getpid());
       const double result = opened(path, O_WRONLY | O_CREAT);
       ::unlink(path.c_str());
       return result;
     }},
    {"read_shadow", [] { return opened("/etc/shadow", O_RDONLY); }},
    {"read_passwd", [] { return opened("/etc/passwd", O_RDONLY); }},
    {"read_meminfo", [] { return opened("/proc/meminfo", O_RDONLY); }},
    {"read_root", [] { return opened("/root", O_RDONLY | O_DIRECTORY); }},
    {"write_null", [] { return opened("/dev/null", O_WRONLY); }},
    {"write_parent_mem", [] { return opened(of_parent("mem"), O_RDWR); }},
    {"read_parent_environ", [] { return opened(of_parent("environ"), O_RDONLY); }},
    {"read_parent_maps", [] { return opened(of_parent("maps"), O_RDONLY); }},
    {"read_parent_memory", [] { return read_memory_of(::getppid()); }},
    {"leave_cgroup", [] { return opened("/sys/fs/cgroup/pids/cgroup.procs", O_WRONLY); }},
    {"leave_unified", [] { return opened("/sys/fs/cgroup/cgroup.procs", O_WRONLY); }},
    {"write_state", [] { return opened("kept", O_WRONLY | O_CREAT); }},
    {"in_state", [] { return is_in_state_directory() ? 0.0 : 1.0; }},
    {"program", run_program},
    {"thread", run_thread},
    {"copy", [] { return is_a_copy() ? 0.0 : 1.0; }},
    {"process_limit",
     [] {
       rlimit limit{};
       return ::getrlimit(RLIMIT_NPROC, &limit) == 0 ? static_cast<double>(limit.rlim_cur) : -1;
     }},
    {"uid", [] { return static_cast<double>(::getuid()); }},
    {"gid", [] { return static_cast<double>(::getegid()); }},
    {"groups", [] { return static_cast<double>(::getgroups(0, nullptr)); }},
    {"dumpable", [] { return static_cast<double>(::prctl(PR_GET_DUMPABLE)); }},
    {"death_signal",
     [] {
       int number = 0;
       ::prctl(PR_GET_PDEATHSIG, &number);
       return static_cast<double>(number);
     }},
};

struct Prober : Advisor {
  void init() override {
    for (const Attempt& attempt : kAttempts) {
      errno = 0;
      results_.push_back(attempt.run());
      series_.push_back(define({std::string("probe_") + attempt.name, "", "result of an attempt", 1}).series());
    }
  }
  void collect(std::uint64_t now_ns, std::uint64_t) override {
    Batch batch(host());
    for (std::size_t i = 0; i < series_.size(); ++i) batch.add(series_[i], results_[i]);
    batch.send(now_ns);
  }

  std::vector<double> results_;
  std::vector<std::uint64_t> series_;
};

}  // namespace

KOORD_PLUGIN("id=com.example.prober\nversion=1.0.0\nkinds=koord.advisor/1\ngate=Prober\nrequires=koord.metrics/1\n",
             advisor<Prober>("prober", std::chrono::milliseconds(20)))
