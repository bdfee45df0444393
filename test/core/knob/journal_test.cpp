// SPDX-License-Identifier: Apache-2.0
#include "core/knob/journal.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "core/knob/journal_file.hpp"
#include "test/core/store/temporary_directory.hpp"

using namespace koord;
using namespace koord::knob;
using namespace std::chrono_literals;

namespace {

Original quota(std::string dir, std::vector<Texts> asked = {{"20000", "100000"}}, std::uint64_t cgroup = 7) {
  return {.key = {std::move(dir), "cpu.max", ""},
          .level = Level::pod,
          .knob = "cpu.max",
          .cgroup = cgroup,
          .texts = {"-1", "100000"},
          .written = {"-1", "100000"},
          .asked = std::move(asked),
          .plugin = "qos-cpu-suppress",
          .ttl = 30s};
}

struct Keeper {
  test::TemporaryDirectory place;
  ManualClock clock;
  const std::string directory = place / "qos";

  std::unique_ptr<Journal> journal(std::string boot = "this boot") const {
    return std::make_unique<Journal>(Journal::Options{directory, std::move(boot)}, clock);
  }
  Journal::Found found(Journal& journal) const {
    Result<Journal::Found> opened = journal.open();
    REQUIRE_MESSAGE(opened, opened.error().message());
    return *std::move(opened);
  }
  Journal::Found found() const { return found(*journal()); }
  static Result<void> keep(Journal& journal, const std::vector<Original>& knobs) { return journal.keep(knobs); }
  void keep(const std::vector<Original>& knobs) const {
    const auto one = journal();
    found(*one);
    const Result<void> kept = keep(*one, knobs);
    REQUIRE_MESSAGE(kept, kept.error().message());
  }
  void damage(std::string_view bytes, std::streamoff at) const {
    std::fstream file(journal_path(directory), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    REQUIRE(file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush());
  }
  void run(const std::string& sql) const {
    auto connection = store::Connection::open(journal_path(directory), store::Connection::Access::read_write);
    REQUIRE(connection);
    REQUIRE(connection->execute(sql));
  }
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(Keeper, "what was kept before a write is found by the next start, word by word") {
  const Original set{.key = {"be/pod1/app", "cpuset.cpus", ""}, .level = Level::container, .knob = "cpuset.cpus", .cgroup = ~0ull,
                     .texts = {""}, .written = {""}, .asked = {{"0-3"}, {"0-3,8"}}};
  const Original throttle{.key = {"be", "io.max", "8:16"}, .knob = "io.max", .texts = {""}, .written = {"8:16 rbps=1 wbps=max"}};
  const Original device{.key = {"be", "io.max", "8:32"}, .knob = "io.max", .texts = {"8:32 rbps=7"}, .written = {"8:32 rbps=1"}};
  const Original on_v1{.key = {"be", "io.max", "8:48"}, .knob = "io.max", .texts = {"", "8:48 1", "", ""}, .written = {"", "", "", ""},
                       .asked = {{"8:48 2", "", "", ""}, {"", "", "", ""}}};
  keep({quota("be"), set, throttle, device, on_v1});
  CHECK(found().left == std::vector<Original>{quota("be"), throttle, device, on_v1, set});
}

TEST_CASE_FIXTURE(Keeper, "until it is known what became of a write, all that may be there is kept; then what is") {
  const Original before = quota("be", {{"20000", "100000"}, {"30000", "100000"}});
  Original after = before;
  after.written = {"20000", "100000"};
  after.asked.clear();
  auto one = journal();
  found(*one);
  REQUIRE(keep(*one, {before}));
  one->wrote(before.key, after.written);
  one.reset();  // as by SIGKILL: it was not saved
  one = journal();
  CHECK(found(*one).left == std::vector{before});
  one->wrote(before.key, after.written);
  one->wrote({"never", "kept", ""}, {"1"});
  one->flush();
  one.reset();
  CHECK(found().left == std::vector{after});
}

TEST_CASE_FIXTURE(Keeper, "what was given back is forgotten") {
  auto one = journal();
  found(*one);
  REQUIRE(keep(*one, {quota("be"), quota("be/pod1")}));
  one->forgotten(quota("be").key);
  one->forgotten({"never", "kept", ""});
  one->flush();
  one.reset();
  CHECK(found().left == std::vector{quota("be/pod1")});
}

TEST_CASE_FIXTURE(Keeper, "a new cgroup of an old one's name has an original of its own") {
  keep({quota("be")});
  const auto one = journal();
  found(*one);
  const Original fresh = quota("be", {{"1", "2"}}, 8);
  REQUIRE(keep(*one, {fresh}));
  CHECK(one->size() == 1);
}

TEST_CASE_FIXTURE(Keeper, "a node that was started again has the kernel's values, and nothing is left") {
  keep({quota("be")});
  const Journal::Found after = found(*journal("the next boot"));
  CHECK(after.left.empty());
  REQUIRE(after.told.size() == 1);
  CHECK(contains(after.told[0], "1 knobs had values of ours before the node was started again"));
  CHECK(found(*journal("the next boot")).told.empty());
}

TEST_CASE_FIXTURE(Keeper, "looking for what was left makes neither folder nor file") {
  CHECK(found().left.empty());
  CHECK_FALSE(std::filesystem::exists(directory));
  const auto one = journal();
  found(*one);
  CHECK(one->problem() == "");
  REQUIRE(one->prepare());
  struct stat about;
  REQUIRE(::stat(directory.c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0700);
  CHECK(std::filesystem::exists(journal_path(directory)));
}

TEST_CASE_FIXTURE(Keeper, "without a folder nothing may be written, and the key is named") {
  Journal none({"", "boot"}, clock);
  REQUIRE(none.open());
  CHECK(contains(none.problem(), "qos.directory is not set"));
  CHECK_FALSE(keep(none, {quota("be")}));
  CHECK_FALSE(none.prepare());
}

TEST_CASE_FIXTURE(Keeper, "nothing may be written before it is known what was left") {
  const auto one = journal();
  CHECK_FALSE(keep(*one, {quota("be")}));
  CHECK(contains(one->problem(), "could not be read yet"));
}

TEST_CASE_FIXTURE(Keeper, "two agents do not share a journal") {
  const auto one = journal();
  found(*one);
  REQUIRE(one->prepare());
  const auto other = Keeper::journal();
  const Result<Journal::Found> opened = other->open();
  REQUIRE_FALSE(opened);
  CHECK(contains(opened.error().message(), "belong to another agent that runs"));
  CHECK_FALSE(keep(*other, {quota("be")}));
}

namespace {

// Two agents with folders of their own on one cgroup tree.
struct TwoAgents : Keeper {
  const std::string tree = place / "cgroup", other_directory = place / "other";

  TwoAgents() { std::filesystem::create_directory(tree); }
  std::unique_ptr<Journal> on_tree(const std::string& folder) const {
    auto one = std::make_unique<Journal>(Journal::Options{folder, "this boot", {tree}}, clock);
    static_cast<void>(one->open());
    return one;
  }
  std::string refusal() const {
    return "another agent writes to the cgroup tree '" + tree + "': process " + std::to_string(::getpid());
  }
};

}  // namespace

TEST_CASE_FIXTURE(TwoAgents, "of two agents with folders of their own on one cgroup tree the second may not write, and names pid and folder of the first") {
  auto first = on_tree(directory);
  REQUIRE(first->prepare());
  const auto second = on_tree(other_directory);
  const Result<void> prepared = second->prepare();
  REQUIRE_FALSE(prepared);
  CHECK_MESSAGE(contains(prepared.error().message(), refusal()), prepared.error().message());
  CHECK_MESSAGE(contains(prepared.error().message(), " with qos.directory '" + directory + "'; stop it, or set its qos.mode to shadow"),
                prepared.error().message());
  CHECK_FALSE(keep(*second, {quota("be")}));
  CHECK(contains(second->problem(), refusal()));
  first.reset();
  CHECK(keep(*second, {quota("be")}));
  CHECK(second->problem() == "");
}

TEST_CASE_FIXTURE(TwoAgents, "what an agent left is not reverted while another one writes to the tree") {
  keep({quota("be")});
  auto first = on_tree(other_directory);
  REQUIRE(first->prepare());
  Journal second({directory, "this boot", {tree}}, clock);
  const Result<Journal::Found> refused = second.open();
  REQUIRE_FALSE(refused);
  CHECK(contains(refused.error().message(), refusal()));
  first.reset();
  CHECK(found(second).left == std::vector{quota("be")});
}

TEST_CASE_FIXTURE(TwoAgents, "an agent that may not write any more and has no value in the tree leaves it to another one") {
  const auto first = on_tree(directory), second = on_tree(other_directory);
  REQUIRE(keep(*first, {quota("be")}));
  first->release_tree();
  CHECK_FALSE(second->prepare());
  first->forgotten(quota("be").key);
  first->release_tree();
  CHECK(second->prepare());
  CHECK_FALSE(keep(*first, {quota("be")}));
}

TEST_CASE_FIXTURE(TwoAgents, "SIGKILL of an agent frees its cgroup tree") {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t holder = ::fork();
  if (holder == 0) {
    TreeLock lock({tree});
    const char done = lock.lock() ? 'y' : 'n';
    if (::write(ready[1], &done, 1) == 1) ::pause();
    ::_exit(1);
  }
  char done = 'n';
  REQUIRE(::read(ready[0], &done, 1) == 1);
  CHECK(done == 'y');
  TreeLock lock({tree});
  const Result<void> refused = lock.lock();
  ::kill(holder, SIGKILL);
  REQUIRE(::waitpid(holder, nullptr, 0) == holder);
  REQUIRE_FALSE(refused);
  CHECK_MESSAGE(contains(refused.error().message(), "process " + std::to_string(holder) + " ("), refused.error().message());
  CHECK(contains(refused.error().message(), ", whose qos.directory is unknown;"));
  CHECK(lock.lock());
  ::close(ready[0]), ::close(ready[1]);
}

TEST_CASE_FIXTURE(Keeper, "a file that is damaged is set aside, and nothing is written until somebody has seen to it") {
  std::vector<Original> many;
  for (int i = 0; i < 500; ++i) many.push_back(quota("be/pod" + std::to_string(i)));
  SUBCASE("its first page") {
    keep(many);
    damage(std::string(64, 'x'), 0);
  }
  SUBCASE("a page within") {
    keep(many);
    damage(std::string(4096, '\xff'), 3 * 4096);
  }
  SUBCASE("cut off") {
    keep(many);
    std::filesystem::resize_file(journal_path(directory), 3 * 4096);
  }
  SUBCASE("of a newer version") {
    keep(many);
    run("PRAGMA user_version=2");
  }
  SUBCASE("another program's") {
    keep(many);
    run("PRAGMA application_id=1");
  }
  SUBCASE("a row that means nothing") {
    keep(many);
    run("UPDATE knob SET level=17");
  }
  SUBCASE("a row of what is no cgroup") {
    keep({quota("be")});
    run("UPDATE knob SET cgroup='../be'");
  }
  SUBCASE("no database") {
    std::filesystem::create_directory(directory);
    std::ofstream(journal_path(directory))
        << "not a database at all, and longer than a header of one hundred bytes would be, so that it is looked at\n";
  }
  auto one = journal();
  const Journal::Found after = found(*one);
  CHECK(after.left.empty());
  REQUIRE(after.told.size() == 1);
  CHECK(contains(after.told[0], "cannot be used: "));
  CHECK(contains(after.told[0], "; set aside as '" + journal_path(directory)));
  CHECK(contains(one->problem(), "was set aside, and with it perhaps what knobs had before"));
  CHECK_FALSE(keep(*one, {quota("be")}));
  CHECK_FALSE(one->prepare());

  one.reset();
  const auto next = journal();  // another start changes nothing about that
  CHECK(found(*next).told.empty());
  CHECK_FALSE(keep(*next, {quota("be")}));
  std::filesystem::remove(*journal_set_aside(directory));
  CHECK(keep(*next, {quota("be")}));
  CHECK(next->problem() == "");
}

TEST_CASE_FIXTURE(Keeper, "starts that do not live to settle what was left are counted") {
  keep({quota("be")});
  CHECK(found().unsettled_starts == 1);
  CHECK(found().unsettled_starts == 2);
  auto one = journal();
  CHECK(found(*one).unsettled_starts == 3);
  one->settled();
  one.reset();
  CHECK(found().unsettled_starts == 1);
}

TEST_CASE_FIXTURE(Keeper, "who leaves knobs on purpose says so to the next start, and to that alone") {
  keep({quota("be")});
  auto one = journal();
  CHECK_FALSE(found(*one).on_purpose);
  one->leave();
  one.reset();
  const Journal::Found next = found();
  CHECK(next.on_purpose);
  CHECK(next.unsettled_starts == 0);
  CHECK_FALSE(found().on_purpose);
}

TEST_CASE_FIXTURE(Keeper, "the file's log is taken into the file while it is in use") {
  const auto one = journal();
  found(*one);
  std::vector<Original> many;
  for (int i = 0; i < 1000; ++i) many.push_back(quota("be/pod" + std::to_string(i)));
  const auto log_bytes = [&] { return std::filesystem::file_size(journal_path(directory) + "-wal"); };
  REQUIRE(keep(*one, many));
  for (int i = 0; i < 200; ++i) {
    for (const Original& knob : many) one->wrote(knob.key, {"20000", "100000"});
    one->flush();
    one->tidy();
  }
  CHECK(log_bytes() < 8u << 20);
  CHECK(std::filesystem::file_size(journal_path(directory)) > 100'000);
}
