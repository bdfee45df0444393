// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/sqlite/connection.hpp"
#include "test/core/store/store_fixture.hpp"

using namespace koord;
using namespace koord::test;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> set_aside_files(const TemporaryDirectory& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory.path()))
    if (std::string name = entry.path().filename(); name.find("Z") != std::string::npos) names.push_back(name);
  return names;
}

unsigned mode_of(const std::string& path) {
  struct stat about;
  return ::stat(path.c_str(), &about) == 0 ? about.st_mode & 07777 : 0;
}

// A second program that reads the file in a transaction, so SQLite cannot shorten the write-ahead log.
class Reader {
 public:
  explicit Reader(const std::string& path)
      : connection_(*sqlite::Connection::open(path, sqlite::Connection::Access::read_only)) {
    REQUIRE(connection_.execute("BEGIN; SELECT count(*) FROM kv;"));
  }

 private:
  sqlite::Connection connection_;
};

// Writes this many MiB; fewer if the store stops using the disk.
void put_mebibytes(Store& store, int count) {
  const std::vector<std::byte> value(1 << 20);
  for (int i = 0; i < count && store.stats().mode == Mode::disk; ++i) {
    REQUIRE(store.put("value", value));
    store.flush();
  }
}

void execute(const std::string& path, const std::string& sql) {
  Result<sqlite::Connection> connection = sqlite::Connection::open(path, sqlite::Connection::Access::read_write);
  REQUIRE(connection);
  REQUIRE(connection->execute(sql));
}

}  // namespace

TEST_CASE_FIXTURE(StoreFixture, "a restart keeps all samples, and the same labels go on with them") {
  begin(1, "cpu", {{"pod", "a"}});
  append_seconds(1, 300);
  reopen();
  CHECK(store->open_report().empty());
  CHECK(values("cpu", {{"pod", "a"}}) == counting(300));
  begin(5, "cpu", {{"pod", "a"}});
  append_seconds(5, 300, 300);
  CHECK(values("cpu", {{"pod", "a"}}) == counting(600));
  CHECK(store->stats().series == 1);
}

TEST_CASE_FIXTURE(StoreFixture, "the newest sample's time is read from the file alone") {
  CHECK_FALSE(Store::newest_time(directory / "nothing.db"));
  begin(1, "cpu");
  append_seconds(1, 10);
  store->flush();
  CHECK(Store::newest_time(options.path) == clock.now() - 1s);
  store.reset();
  CHECK(Store::newest_time(options.path) == clock.now() - 1s);
}

TEST_CASE_FIXTURE(StoreFixture,
                  "the file and the two beside it are readable for their owner only, whatever the umask") {
  store.reset();
  fs::remove(options.path);
  const mode_t before = ::umask(0);
  reopen();
  begin(1, "cpu");
  append_seconds(1, 10);
  store->flush();
  ::umask(before);
  for (const char* end : {"", "-wal", "-shm"}) {
    INFO(end);
    CHECK(mode_of(options.path + end) == 0600);
  }
}

TEST_CASE_FIXTURE(StoreFixture, "permissions of other users are removed from a file of an older agent") {
  begin(1, "cpu");
  append_seconds(1, 10);
  store.reset();
  REQUIRE(::chmod(options.path.c_str(), 0644) == 0);
  reopen();
  CHECK(mode_of(options.path) == 0640);
  CHECK(values("cpu") == counting(10));
}

TEST_CASE_FIXTURE(StoreFixture, "after a restart a time before the metric's newest sample is refused") {
  begin(1, "cpu");
  append_seconds(1, 10);
  reopen();
  begin(1, "cpu");
  Sample sample{1, 1};
  CHECK_FALSE(store->append(clock.now() - 5s, {&sample, 1}));
}

TEST_CASE_FIXTURE(StoreFixture, "a corrupt file is set aside and a new one begun") {
  store.reset();
  std::ofstream(options.path, std::ios::trunc) << std::string(8192, 'x');
  reopen();
  CHECK(store->open_report().find("set aside as") != std::string::npos);
  CHECK(store->stats().mode == Mode::disk);
  REQUIRE(set_aside_files(directory).size() == 1);
  CHECK(set_aside_files(directory)[0].starts_with("metrics.db.corrupt-20"));
}

TEST_CASE_FIXTURE(StoreFixture, "a page damaged in the middle of the file is found at open") {
  begin(1, "cpu");
  append_seconds(1, 2000);
  store.reset();
  std::fstream file(options.path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4096 * 3);
  file << std::string(4096, '\xff');
  file.close();
  reopen();
  REQUIRE(set_aside_files(directory).size() == 1);
  CHECK(set_aside_files(directory)[0].starts_with("metrics.db.corrupt-"));
}

TEST_CASE_FIXTURE(StoreFixture, "a file of a newer version is set aside with that reason") {
  store.reset();
  execute(options.path, "PRAGMA user_version = 99");
  reopen();
  REQUIRE(set_aside_files(directory).size() == 1);
  CHECK(set_aside_files(directory)[0].starts_with("metrics.db.newer-version-"));
}

TEST_CASE_FIXTURE(StoreFixture, "a long write-ahead log that was left is cut back at the start, and nothing is lost") {
  begin(1, "cpu");
  append_seconds(1, 10);
  store->flush();
  {
    Reader reader(options.path);
    put_mebibytes(*store, 10);
    store.reset();
  }
  REQUIRE(fs::file_size(options.path + "-wal") > 10 << 20);
  reopen();
  CHECK(fs::file_size(options.path + "-wal") <= 4 << 20);
  CHECK(set_aside_files(directory).empty());
  CHECK(values("cpu") == counting(10));
}

TEST_CASE_FIXTURE(StoreFixture, "a reader that keeps the log from being cut back cannot make it grow without bound") {
  options.max_bytes = 8 << 20;
  reopen();
  begin(1, "cpu");
  append_seconds(1, 10);
  {
    Reader reader(options.path);
    put_mebibytes(*store, 40);
    CHECK(store->stats().mode == Mode::memory);
    CHECK(store->stats().reason.find("another program has had the file open in one transaction") != std::string::npos);
    append_seconds(1, 10, 10);
    store->flush();
    CHECK(fs::file_size(options.path + "-wal") < 20 << 20);
    CHECK(values("cpu") == counting(20));
    reopen();
    CHECK(store->stats().mode == Mode::memory);
    CHECK(store->open_report().find("-wal' has ") != std::string::npos);
  }
  reopen();
  CHECK(store->stats().mode == Mode::disk);
  CHECK(fs::file_size(options.path + "-wal") <= 4 << 20);
  CHECK(set_aside_files(directory).empty());
}

TEST_CASE_FIXTURE(StoreFixture, "another program's database is set aside, not written into") {
  store.reset();
  fs::remove(options.path);
  execute(options.path, "CREATE TABLE theirs(x)");
  reopen();
  REQUIRE(set_aside_files(directory).size() == 1);
  CHECK(set_aside_files(directory)[0].starts_with("metrics.db.foreign-"));
}

TEST_CASE_FIXTURE(StoreFixture, "only the two newest files set aside are kept") {
  for (int i = 0; i < 4; ++i) {
    store.reset();
    execute(options.path, "PRAGMA user_version = 99");
    clock.advance(1min);
    reopen();
  }
  CHECK(set_aside_files(directory).size() == 2);
}

TEST_CASE_FIXTURE(StoreFixture, "chunks older than the retention are removed with the names of ended series") {
  options.retention = 10min;
  reopen();
  begin(1, "cpu", {{"pod", "a"}});
  append_seconds(1, 300);
  store->end_series(1);
  begin(2, "cpu", {{"pod", "b"}});
  append_seconds(2, 1200);
  reopen();
  store->flush();
  CHECK(values("cpu", {{"pod", "a"}}).empty());
  CHECK(values("cpu", {{"pod", "b"}}).size() < 900);
  CHECK(store->stats().series == 1);
}

TEST_CASE_FIXTURE(StoreFixture, "a value is there until its time is over, also after a restart") {
  std::byte value[] = {std::byte{1}, std::byte{0}, std::byte{2}};
  REQUIRE(store->put("cpus", value));
  REQUIRE(store->put("short", value, 10s));
  reopen();
  CHECK(store->get("cpus") == std::vector<std::byte>(std::begin(value), std::end(value)));
  CHECK(store->get("short"));
  clock.advance(10s);
  CHECK_FALSE(store->get("short"));
  store->erase("cpus");
  reopen();
  CHECK_FALSE(store->get("cpus"));
}

TEST_CASE_FIXTURE(StoreFixture, "a key or value that is too large is refused") {
  CHECK_FALSE(store->put("", {}));
  CHECK_FALSE(store->put(std::string(257, 'k'), {}));
  CHECK_FALSE(store->put("large", std::vector<std::byte>((1 << 20) + 1)));
}
