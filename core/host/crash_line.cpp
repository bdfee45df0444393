// SPDX-License-Identifier: Apache-2.0
#include "core/host/crash_line.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstring>

#include "core/host/call_guard.hpp"

namespace koord::host {
namespace {

constexpr int kFatalSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

const char* word_of_signal(int number) {
  switch (number) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGILL:
      return "SIGILL";
    case SIGFPE:
      return "SIGFPE";
    default:
      return "SIGABRT";
  }
}

iovec piece(const char* text) { return {const_cast<char*>(text), std::strlen(text)}; }

// Async-signal-safe: plain pointers and one system call.
void write_line(int number) {
  const ActiveCall* active = active_call();
  const iovec of_agent[] = {piece("FATAL agent: ended by "), piece(word_of_signal(number)),
                            piece(", in no call of a plugin\n")};
  if (active == nullptr) {
    [[maybe_unused]] const ssize_t written = ::writev(STDERR_FILENO, of_agent, 3);
    return;
  }
  const iovec of_plugin[] = {piece("FATAL plugin: "),
                             piece(active->plugin),
                             piece(": ended the agent by "),
                             piece(word_of_signal(number)),
                             piece(" in "),
                             piece(active->call),
                             piece("()\n")};
  [[maybe_unused]] const ssize_t written = ::writev(STDERR_FILENO, of_plugin, 7);
}

// SA_RESETHAND has restored the default action. It is taken when the signal is raised again, or the instruction runs
// again.
void report(int number) {
  write_line(number);
  ::raise(number);
}

}  // namespace

void install_crash_line() {
  for (const int number : kFatalSignals) {
    struct sigaction now = {};
    if (::sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    struct sigaction ours = {};
    ours.sa_handler = report;
    ours.sa_flags = static_cast<int>(SA_RESETHAND) | SA_ONSTACK;
    ::sigemptyset(&ours.sa_mask);
    ::sigaction(number, &ours, nullptr);
  }
}

}  // namespace koord::host
