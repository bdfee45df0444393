// SPDX-License-Identifier: Apache-2.0
#include "core/load/trial.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "core/base/file.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::load;
using namespace std::chrono_literals;

TEST_CASE("a trial answers with the result, or how its process ended") {
  CHECK(try_in_child([]() -> Result<void> { return {}; }, 60s));
  CHECK(try_in_child([]() -> Result<void> { return invalid("expected less"); }, 60s).error().message() ==
        "expected less");
  CHECK(try_in_child([]() -> Result<void> { std::abort(); }, 60s).error().message() ==
        "the trial ended by signal 6 (Aborted)");
  CHECK(try_in_child([]() -> Result<void> { ::_exit(3); }, 60s).error().message() ==
        "the trial ended with exit code 3");
}

// After an agent was killed, its trial process ends a little later. The next agent may start before that.
TEST_CASE("a trial holds no lock of the agent") {
  test::FakeNode node;
  const std::string path = node.path("lock");
  const auto open = [&] { return open_at(AT_FDCWD, path, O_RDWR | O_CREAT, 0600).value(); };
  UniqueFd lock = open();
  REQUIRE(::flock(lock.get(), LOCK_EX | LOCK_NB) == 0);
  const int descriptor = lock.get();
  const Result<void> tried = try_in_child(
      [&]() -> Result<void> {
        struct stat of_lock {
        }, here{};
        const bool is_open =
            ::stat(path.c_str(), &of_lock) == 0 && ::fstat(descriptor, &here) == 0 && here.st_ino == of_lock.st_ino;
        return is_open ? Result<void>(invalid("the descriptor of the lock is open")) : Result<void>();
      },
      60s);
  CHECK_MESSAGE(tried, tried.error().message());
}
