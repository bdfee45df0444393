// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/store/sql.hpp"
#include "test/core/store/store_fixture.hpp"

using namespace koord;
using namespace koord::test;

namespace {

constexpr std::uint32_t kSeries = 70;

// Runs in a child process: appends `seconds` rows of all series and flushes, then appends three more rows without a
// flush, reports that through the pipe, and waits to be killed.
[[noreturn]] void write_until_killed(const std::string& path, int seconds, int pipe) {
  ManualClock clock;
  Options options;
  options.path = path;
  options.journal_period = 1h;
  std::unique_ptr<Store> store = std::move(*Store::open(options, clock));
  for (std::uint32_t i = 0; i < kSeries; ++i)
    if (!store->begin_series(i, {"cpu", "core", 0.001, {{"pod", std::to_string(i)}}})) ::_exit(1);
  for (int second = 0; second < seconds + 3; ++second) {
    std::vector<Sample> batch;
    for (std::uint32_t i = 0; i < kSeries; ++i) batch.push_back({i, second + i / 1000.0});
    if (!store->append(clock.now(), batch)) ::_exit(1);
    clock.advance(1s);
    if (second < seconds) store->flush();
  }
  if (::write(pipe, "x", 1) != 1) ::_exit(1);
  for (;;) ::pause();
}

void write_and_kill(const std::string& path, int seconds) {
  int pipe[2];
  REQUIRE(::pipe(pipe) == 0);
  pid_t child = ::fork();
  if (child == 0) write_until_killed(path, seconds, pipe[1]);
  ::close(pipe[1]);
  char byte;
  CHECK(::read(pipe[0], &byte, 1) == 1);
  ::close(pipe[0]);
  ::kill(child, SIGKILL);
  int status;
  ::waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
}

std::string one(const std::string& path, const std::string& statement) {
  Result<SqlResult> result = run_sql(path, statement);
  REQUIRE_MESSAGE(result, result.error().message());
  return result->rows.at(0).at(0);
}

}  // namespace

TEST_CASE("after SIGKILL every flushed row is there once, and the file is sound") {
  for (int seconds : {5, 130, 400}) {
    TemporaryDirectory directory;
    std::string path = directory / "metrics.db";
    write_and_kill(path, seconds);
    CHECK(one(path, "SELECT count(*) FROM samples") == std::to_string(seconds * static_cast<int>(kSeries)));
    ManualClock clock;
    clock.advance(Duration(1s) * (seconds + 3));
    Options options;
    options.path = path;
    std::unique_ptr<Store> store = std::move(*Store::open(options, clock));
    CHECK(store->open_report() == "the last run ended without closing the file, its journal is restored\n");
    auto series = store->samples({"cpu", {{"pod", "33"}}, from_ns(1), clock.now()});
    REQUIRE(series.size() == 1);
    CHECK(series[0].samples.size() == static_cast<std::size_t>(seconds));
    CHECK(series[0].samples.back().value == doctest::Approx(seconds - 1 + 0.033));
    CHECK(one(path, "PRAGMA integrity_check") == "ok");
  }
}

TEST_CASE("a second kill and restart keeps all samples that the first had restored") {
  TemporaryDirectory directory;
  std::string path = directory / "metrics.db";
  write_and_kill(path, 130);
  std::string journal = "SELECT count(*) FROM samples";
  std::string before = one(path, journal);
  ManualClock clock;
  Options options;
  options.path = path;
  clock.advance(1h);
  Store::open(options, clock)->reset();
  Store::open(options, clock)->reset();
  CHECK(one(path, journal) == before);
}
