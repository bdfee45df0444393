// SPDX-License-Identifier: Apache-2.0
#include "core/ui/exec.hpp"

#include <doctest/doctest.h>
#include <sys/eventfd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>

#include "test/support/eventually.hpp"

using namespace koord;
using namespace koord::test;

namespace {

constexpr Duration kLong = std::chrono::minutes(1);

ui::Patience patience_of(Duration time) { return {std::chrono::steady_clock::now() + time}; }

std::unique_ptr<ui::Exec> shell(const std::string& script) {
  Result<std::unique_ptr<ui::Exec>> program = ui::Exec::start({"sh", "-c", script});
  REQUIRE(program);
  return std::move(program).value();
}

// Appends all output to `text`, and always accepts more.
ui::Exec::OnOutput into(std::string& text) {
  return [&text](std::string_view bytes) -> Result<bool> {
    text += bytes;
    return false;
  };
}

// Returns whether the process has ended; the process that reaps orphans may not have reaped it yet.
bool has_ended(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  return stat.empty() || stat.find(") Z ") != stat.npos;
}

}  // namespace

TEST_CASE("a program gets the written input, and its output is returned until it ends") {
  const auto program = shell("read line; echo \"got $line\"; echo done");
  std::string text;
  CHECK(program->exchange("a line\n", patience_of(kLong), into(text)));
  CHECK(text == "got a line\ndone\n");
  CHECK(program->exit_status() == 0);
}

TEST_CASE("a program that is not in PATH, or is none, fails with its name") {
  const Result<std::unique_ptr<ui::Exec>> missing = ui::Exec::start({"koord-test-no-such-program"});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message() == "cannot run 'koord-test-no-such-program': No such file or directory");
  CHECK_FALSE(ui::Exec::start({"/etc/passwd"}));
}

TEST_CASE("a program that does not answer is given up at the deadline, and as soon as it is cancelled") {
  const auto program = shell("echo waiting >&2; exec sleep 1000");
  std::string text;
  const Result<void> late = program->exchange("x", patience_of(std::chrono::milliseconds(50)), into(text));
  REQUIRE_FALSE(late);
  CHECK(late.error().is(std::errc::timed_out));
  const UniqueFd cancelled(::eventfd(1, EFD_CLOEXEC));
  ui::Patience patience = patience_of(kLong);
  patience.cancel_fd = cancelled.get();
  const Result<void> stopped = program->exchange("x", patience, into(text));
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().is(std::errc::operation_canceled));
}

TEST_CASE("a program that does not read its input does not delay the end of its output") {
  const auto program = shell("exec <&-; echo enough");
  std::string text;
  CHECK(program->exchange(std::string(8u << 20, 'x'), patience_of(kLong), into(text)));
  CHECK(text == "enough\n");
}

TEST_CASE("endless output and endless complaints end at the deadline") {
  for (const char* script : {"exec yes", "exec yes >&2", "yes >&2 & exec yes"}) {
    CAPTURE(script);
    const auto program = shell(script);
    std::string text;
    const auto drop = [](std::string_view) -> Result<bool> { return false; };
    const Result<void> late = program->exchange({}, patience_of(std::chrono::milliseconds(200)), drop);
    REQUIRE_FALSE(late);
    CHECK(late.error().is(std::errc::timed_out));
    CHECK(program->complaints().size() <= 2048);
  }
}

TEST_CASE("complaints are the last lines of the standard error on one line, without control characters") {
  const auto program = shell("printf 'first\\n\\n  \\033[31mred\\nlast\\n' >&2; exit 3");
  std::string text;
  CHECK(program->exchange({}, patience_of(kLong), into(text)));
  CHECK(program->complaints() == "first; ?[31mred; last");
  CHECK(program->exit_status() == 3);
}

TEST_CASE("a program that a signal ended has the exit status of a shell") {
  const auto program = shell("kill -TERM $$");
  std::string text;
  CHECK(program->exchange({}, patience_of(kLong), into(text)));
  CHECK(program->exit_status() == 128 + SIGTERM);
}

TEST_CASE("an error of the reader ends the exchange") {
  const auto program = shell("echo text; exec sleep 1000");
  const Result<void> done =
      program->exchange({}, patience_of(kLong), [](std::string_view) -> Result<bool> { return invalid("not that"); });
  REQUIRE_FALSE(done);
  CHECK(done.error().message() == "not that");
}

TEST_CASE("a program that has ended or written more is not silent") {
  const auto quiet = shell("exec sleep 1000");
  CHECK(quiet->is_silent());
  const auto ended = shell("exit 0");
  CHECK(eventually([&] { return !ended->is_silent(); }));
  const auto loud = shell("echo more; exec sleep 1000");
  CHECK(eventually([&] { return !loud->is_silent(); }));
}

TEST_CASE("a program and its children end with the object") {
  std::string text;
  {
    const auto program = shell("sleep 1000 & echo $! $$; exec sleep 1000");
    CHECK(program->exchange({}, patience_of(kLong), [&](std::string_view bytes) -> Result<bool> {
      text += bytes;
      return text.ends_with('\n');
    }));
  }
  const std::size_t space = text.find(' ');
  REQUIRE(space != text.npos);
  const std::string child = text.substr(0, space), parent = text.substr(space + 1, text.size() - space - 2);
  CHECK(eventually([&] { return has_ended(parent) && has_ended(child); }));
}
