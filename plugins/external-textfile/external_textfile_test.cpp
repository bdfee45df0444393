// SPDX-License-Identifier: Apache-2.0
#include "plugins/external-textfile/external_textfile.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "test/support/fake_scrape.hpp"

using namespace koord::external_textfile;
using koord::scrape::ScrapeTarget;
using koord::test::FakeHost;
using koord::test::FakeNode;
using koord::test::FakeScrape;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> names(const std::vector<File>& files) {
  std::vector<std::string> list;
  for (const File& file : files) list.push_back(file.name);
  return list;
}

// A directory of files, and the plugin that reads them.
struct Textfiles {
  FakeNode node{{"textfile/.keep", ""}};
  std::string directory = node.path("textfile");
  FakeHost host;
  FakeScrape advisor{host, koord_entry_v1()};

  explicit Textfiles(const std::string& more = {}) : host(node, R"({"directory": ")" + directory + "\"" + more + "}") {
    REQUIRE(advisor.init() == KOORD_OK);
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(directory + "/" + name) << text; }

  // Ticks once and returns the result of each file: "" or why it was rejected.
  std::string tick() {
    std::string problems;
    for (const ScrapeTarget& target : advisor.targets()) {
      if (auto outcome = advisor.scrape(target); !outcome)
        problems += target.name + ": " + outcome.error().message() + "\n";
    }
    return problems;
  }
  std::vector<std::string> targets() {
    std::vector<std::string> list;
    for (const ScrapeTarget& target : advisor.targets()) list.push_back(target.name);
    return list;
  }
};

}  // namespace

TEST_CASE("files that end with .prom are accepted, except hidden ones") {
  CHECK(is_ours("a.prom"));
  CHECK_FALSE(is_ours("a.prom.tmp"));
  CHECK_FALSE(is_ours(".a.prom"));
  CHECK_FALSE(is_ours("prom"));
}

TEST_CASE("a file older than the limit is stale; without a limit no file is stale") {
  const std::vector<File> files{{"old.prom", 10, true}, {"new.prom", 90, true}};
  CHECK(names(choose(files, 100, 50).read) == std::vector<std::string>{"new.prom"});
  CHECK(names(choose(files, 100, 50).stale) == std::vector<std::string>{"old.prom"});
  CHECK(names(choose(files, 100, 0).read) == std::vector<std::string>{"new.prom", "old.prom"});
}

TEST_CASE("files from the future are fresh, and only regular files are read") {
  const Choice choice = choose({{"a.prom", 200, true}, {"pipe.prom", 100, false}, {"other.txt", 100, false}}, 100, 50);
  CHECK(names(choice.read) == std::vector<std::string>{"a.prom"});
  CHECK(choice.not_regular == 1);
}

TEST_CASE("above the host's maximum number of targets the last files are left out") {
  std::vector<File> files;
  for (int i = 0; i < 300; ++i) files.push_back({std::to_string(1000 + i) + ".prom"});
  const Choice choice = choose(files, 0, 0);
  CHECK(choice.read.size() == kMaxFiles);
  CHECK(choice.read.back().name == "1255.prom");
  CHECK(choice.too_many == 44);
  CHECK(kMaxFiles == koord::scrape::kMaxTargets);
}

TEST_CASE("without a directory the plugin is absent") {
  FakeNode node;
  FakeHost host(node);
  FakeScrape advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(advisor.why() == "no directory configured");
}

TEST_CASE("each file's metrics are read, with the time of its last change") {
  Textfiles files;
  files.write("backup.prom", "# TYPE backup_bytes gauge\nbackup_bytes{disk=\"a\"} 4096\n");
  files.write("raid.prom", "raid_ok 1\n");
  CHECK(files.tick() == "");
  CHECK(files.host.value("backup_bytes", {{"disk", "a"}}) == 4096);
  CHECK(files.host.value("raid_ok") == 1);
  struct stat status;
  REQUIRE(::stat((files.directory + "/raid.prom").c_str(), &status) == 0);
  CHECK(files.host.value("textfile_mtime_seconds", {{"file", "raid.prom"}}) ==
        doctest::Approx(static_cast<double>(status.st_mtim.tv_sec)));
}

TEST_CASE("an invalid or truncated file is reported by name, and other files are read") {
  Textfiles files;
  files.write("bad.prom", "x 1\ny{");
  files.write("cut.prom", "x 1");
  files.write("good.prom", "z 1\n");
  const std::string directory = files.directory;
  CHECK(files.tick() == "bad.prom: '" + directory +
                            "/bad.prom': line 2: found no line feed at its end, expected one: the text is cut off\n" +
                            "cut.prom: '" + directory +
                            "/cut.prom': line 1: found no line feed at its end, expected one: the text is cut off\n");
  CHECK(files.host.value("z") == 1);
  CHECK_FALSE(files.host.value("x"));
}

TEST_CASE("a removed file is no target, and the series of its time ends") {
  Textfiles files;
  files.write("a.prom", "a 1\n");
  CHECK(files.targets() == std::vector<std::string>{"a.prom"});
  CHECK(files.host.series("textfile_mtime_seconds").size() == 1);
  ::unlink((files.directory + "/a.prom").c_str());
  CHECK(files.targets().empty());
  CHECK(files.host.series("textfile_mtime_seconds").empty());
}

TEST_CASE("a stale file is not read, but its time is reported") {
  Textfiles files(R"(, "maxAgeSeconds": 60)");
  files.write("a.prom", "a 1\n");
  std::filesystem::last_write_time(files.directory + "/a.prom",
                                   std::filesystem::file_time_type::clock::now() - 3600s * 24 * 3650);
  CHECK(files.targets().empty());
  CHECK(files.host.series("textfile_mtime_seconds").size() == 1);
}

TEST_CASE("a link, a pipe and a directory are not read, whatever their name") {
  Textfiles files;
  files.write("secret", "secret 1\n");
  std::filesystem::create_symlink("secret", files.directory + "/link.prom");
  std::filesystem::create_directory(files.directory + "/directory.prom");
  REQUIRE(::mkfifo((files.directory + "/pipe.prom").c_str(), 0600) == 0);
  CHECK(files.targets().empty());
  // The same holds if the file is created after the check.
  for (const char* name : {"link.prom", "pipe.prom", "directory.prom"})
    CHECK_FALSE(files.advisor.scrape({.name = name, .url = "file:" + files.directory + "/" + name}));
}

TEST_CASE("a file that is too large, or has too many series, is left out as a whole") {
  Textfiles files(R"(, "limits": {"bodyBytes": 100, "samples": 5, "series": 2})");
  files.write("large.prom", std::string(101, '#') + "\n");
  files.write("long.prom", "a 1\nb 1\nc 1\nd 1\ne 1\nf 1\n");
  const auto targets = files.advisor.targets();
  REQUIRE(targets.size() == 2);
  CHECK(targets[0].max_series == 2);
  const std::string problems = files.tick();
  CHECK_MESSAGE(problems.find("large.prom: ") != std::string::npos, problems);
  CHECK_MESSAGE(problems.find("line 6: found more than 5 samples") != std::string::npos, problems);
}

TEST_CASE("two files with the same series: the first has it") {
  Textfiles files;
  files.write("a.prom", "same 1\n");
  files.write("b.prom", "same 2\nother 3\n");
  CHECK(files.tick() == "");
  CHECK(files.host.value("same") == 1);
  CHECK(files.host.value("other") == 3);
}

TEST_CASE("a missing directory fails the tick with its path") {
  FakeNode node;
  FakeHost host(node, R"({"directory": "/nowhere/textfile/"})");
  FakeScrape advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.targets().empty());
  CHECK_MESSAGE(advisor.why().find("/nowhere/textfile") != std::string::npos, advisor.why());
}

TEST_CASE("a wrong configuration is refused before the plugin sees it") {
  auto is_accepted = [](const std::string& json) { return FakeScrape::accepts(koord_entry_v1(), json); };
  CHECK(is_accepted(R"({"directory": "/var/lib/textfile", "maxAgeSeconds": 3600, "limits": {"series": 100}})"));
  CHECK_FALSE(is_accepted(R"({"directory": "relative"})"));
  CHECK_FALSE(is_accepted(R"({"directory": 1})"));
  CHECK_FALSE(is_accepted(R"({"folder": "/x"})"));
  CHECK_FALSE(is_accepted(R"({"directory": "/x", "maxAgeSeconds": -1})"));
}
