// SPDX-License-Identifier: Apache-2.0
#include "core/store/sql.hpp"

#include "test/core/store/store_fixture.hpp"

using namespace koord;
using namespace koord::test;

namespace {

struct SqlFixture : StoreFixture {
  SqlFixture() {
    begin(1, "cpu", {{"pod_name", "a"}, {"mode", "user"}}, 0.1);
    begin(2, "mem", {{"pod_name", "b"}});
    for (int i = 0; i < 300; ++i) {
      append(1, i / 10.0);
      append(2, i);
      clock.advance(1s);
      if (i % 50 == 49) store->flush();
    }
    store->flush();
  }
  std::string one(const std::string& statement) const {
    Result<SqlResult> result = run_sql(options.path, statement);
    REQUIRE_MESSAGE(result, result.error().message());
    REQUIRE(result->rows.size() == 1);
    return result->rows[0][0];
  }
  std::string refusal(const std::string& statement) const { return run_sql(options.path, statement).error().text; }
};

}  // namespace

TEST_CASE_FIXTURE(SqlFixture, "SQL sees every sample once, while the store is open and when it is closed") {
  CHECK(one("SELECT count(*) FROM samples") == "600");
  CHECK(one("SELECT count(DISTINCT time) FROM samples WHERE metric = 'cpu'") == "300");
  CHECK(one("SELECT sum(value) FROM samples WHERE metric = 'mem'") == "44850.0");
  store.reset();
  CHECK(one("SELECT count(*) FROM samples") == "600");
}

TEST_CASE_FIXTURE(SqlFixture, "SQL bounds on time and metric choose exactly the samples within") {
  std::string start = std::to_string(to_ns(clock.now()) / 1'000'000'000 - 300);
  CHECK(one("SELECT count(*) FROM samples WHERE metric = 'cpu' AND time >= " + start + " + 10 AND time < " + start +
            " + 20") == "10");
  CHECK(one("SELECT value FROM samples WHERE metric = 'cpu' AND time = " + start + " + 299") == "29.9");
}

TEST_CASE_FIXTURE(SqlFixture, "SQL shows labels as columns and all of them as JSON") {
  CHECK(one("SELECT DISTINCT pod_name FROM samples WHERE metric = 'cpu'") == "a");
  CHECK(one("SELECT labels FROM series WHERE metric = 'cpu'") == R"({"mode":"user","pod_name":"a"})");
  CHECK(one("SELECT json_extract(labels, '$.mode') FROM series WHERE pod_name = 'a'") == "user");
}

TEST_CASE_FIXTURE(SqlFixture, "SQL that writes is refused") {
  for (const char* statement : {"DELETE FROM chunk", "DROP TABLE chunk", "INSERT INTO kv VALUES(1,2,3)", "VACUUM",
                                "ATTACH 'x' AS y", "PRAGMA user_version = 9; ", "PRAGMA journal_mode = DELETE"})
    CHECK_FALSE(run_sql(options.path, statement));
  CHECK(refusal("DELETE FROM chunk") == "only SELECT, and PRAGMAs that read, are allowed: not authorized");
  CHECK(one("PRAGMA user_version") == "1");
}

TEST_CASE_FIXTURE(SqlFixture, "an SQL error says what is wrong") {
  CHECK(refusal("SELECT colour FROM samples") == "no such column: colour");
  CHECK(refusal("SELECT 1; SELECT 2") == "expected one statement, found more behind it: 'SELECT 2'");
  CHECK(refusal("") == "there is no statement");
  CHECK(run_sql(directory / "none.db", "SELECT 1").error().is(std::errc::no_such_file_or_directory));
}

TEST_CASE_FIXTURE(SqlFixture, "more rows than the limit are cut off and reported") {
  Result<SqlResult> result = run_sql(options.path, "SELECT * FROM samples", {.max_rows = 7});
  REQUIRE(result);
  CHECK(result->rows.size() == 7);
  CHECK(result->truncated);
  CHECK(result->columns.size() == 10);
}
