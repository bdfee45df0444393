// SPDX-License-Identifier: Apache-2.0
#include "core/host/crash_line.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>

#include "core/host/call_guard.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;

namespace {

struct End {
  std::string output;
  int signal = 0;
};

// Returns the stderr of a process that ends in this way.
End end_of(const std::function<void()>& work) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
      ::signal(number, SIG_DFL);  // replaces the handler of the test runner
    ::dup2(ends[1], STDERR_FILENO);
    host::install_crash_line();
    work();
    ::_exit(0);
  }
  ::close(ends[1]);
  End end;
  char buffer[256];
  for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    end.output.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return end;
}

__attribute__((no_sanitize("undefined"))) void write_to_null() {
  static volatile int* volatile nothing = nullptr;
  *nothing = 1;
}

}  // namespace

TEST_CASE("a crash in a plugin's call leaves one line that names the plugin and the call") {
  test::FakeNode node;
  test::FakeHost host(node);
  const End end = end_of([&] { host::guarded(host.context(), "collect", [] { return write_to_null(), KOORD_OK; }); });
  CHECK(end.output == "FATAL plugin: test: ended the agent by SIGSEGV in collect()\n");
  CHECK(end.signal == SIGSEGV);
}

TEST_CASE("an abort in a plugin's call leaves the same line") {
  test::FakeNode node;
  test::FakeHost host(node);
  const End end = end_of([&] { host::guarded(host.context(), "init", [] { return std::abort(), KOORD_OK; }); });
  CHECK(end.output == "FATAL plugin: test: ended the agent by SIGABRT in init()\n");
  CHECK(end.signal == SIGABRT);
}

TEST_CASE("a crash of the agent itself names no plugin") {
  const End end = end_of([] { ::raise(SIGBUS); });
  CHECK(end.output == "FATAL agent: ended by SIGBUS, in no call of a plugin\n");
  CHECK(end.signal == SIGBUS);
}
