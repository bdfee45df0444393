// SPDX-License-Identifier: Apache-2.0
// koordctl plugin check and koordctl plugin explain, as a user runs them.
#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "core/workshop/check/rule.hpp"
#include "test/support/child_process.hpp"

using namespace koord;
using namespace koord::test;

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  if (!value) throw std::runtime_error(std::string(name) + " is not set: run this with meson test");
  return value;
}

Finished koordctl(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), variable("KOORD_KOORDCTL"));
  return run_to_end(arguments, std::chrono::minutes(2));
}

std::string bad_plugin_file(const std::string& name) { return variable("KOORD_BAD_PLUGINS") + "/" + name + ".so"; }

// A copy with this mode in a folder that an agent trusts, independent of the modes of the build folder.
class FileCopy {
 public:
  FileCopy(const std::string& name, unsigned mode) {
    std::string pattern = (std::filesystem::temp_directory_path() / "koord-test-check-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for '" + name + "'");
    folder_ = pattern;
    std::filesystem::copy_file(bad_plugin_file(name), path());
    set_mode(mode);
  }
  ~FileCopy() { std::filesystem::remove_all(folder_); }
  FileCopy(const FileCopy&) = delete;
  FileCopy& operator=(const FileCopy&) = delete;
  std::string path() const { return folder_ / "plugin.so"; }
  void set_mode(unsigned mode) { std::filesystem::permissions(path(), static_cast<std::filesystem::perms>(mode)); }

 private:
  std::filesystem::path folder_;
};

bool says(const Finished& done, std::string_view text) { return done.output.find(text) != std::string::npos; }

}  // namespace

TEST_CASE("acceptance 3: plugin info describes a plugin with a constructor that aborts, and exits 0") {
  const FileCopy file("constructor_aborts", 0755);
  const Finished shown = koordctl({"plugin", "info", file.path()});
  CHECK(shown.exit_status == 0);
  for (const char* part : {"com.example.bad", "1.0.0", "koord.advisor/1", "koord.metrics/1, koord.state/1"})
    CHECK_MESSAGE(says(shown, part), shown.output);
}

TEST_CASE("plugin check exits 0 if no rule is broken, and its last line is the summary") {
  const Finished checked = koordctl({"plugin", "check", bad_plugin_file("sound")});
  CHECK_MESSAGE(checked.exit_status == 0, checked.output);
  CHECK_MESSAGE(says(checked, "\n32 passed, 0 failed, 2 not applicable\n"), checked.output);
}

TEST_CASE("plugin check exits 1 if a rule is broken, and names the rule and where to read more") {
  const Finished checked = koordctl({"plugin", "check", bad_plugin_file("leaked_descriptor")});
  CHECK(checked.exit_status == 1);
  CHECK_MESSAGE(says(checked, "breaks K023; koordctl plugin explain K023 says more"), checked.output);
}

TEST_CASE("plugin check names the reason why an agent would refuse a file that breaks no rule, as plugin info does") {
  FileCopy copy("sound", 0777);
  const std::string reason =
      "'" + copy.path() + "': expected no write permission for group and others, found mode 0777";
  const Finished text = koordctl({"plugin", "check", copy.path()}),
                 rows = koordctl({"plugin", "check", copy.path(), "--json"});
  CHECK(text.exit_status == 0);
  CHECK_MESSAGE(says(text, "\nrefused by an agent: " + reason + "\n"), text.output);
  CHECK_MESSAGE(says(rows, "\"refused\":\"" + reason + "\""), rows.output);
  const Finished info = koordctl({"plugin", "info", copy.path()});
  CHECK(info.exit_status == 1);
  CHECK_MESSAGE(says(info, reason), info.output);
  copy.set_mode(0755);
  CHECK_FALSE(says(koordctl({"plugin", "check", copy.path()}), "refused by an agent"));
}

TEST_CASE("plugin check reports the same as JSON") {
  const Finished checked = koordctl({"plugin", "check", bad_plugin_file("sound"), "--json"});
  const boost::json::object report = boost::json::parse(checked.output).as_object();
  CHECK(report.at("failed").as_int64() == 0);
  CHECK(report.at("rules").as_array().size() == check::rules().size());
  const boost::json::object first = report.at("rules").as_array().at(0).as_object();
  CHECK(first.at("rule").as_string() == "K001");
  CHECK(first.at("result").as_string() == "passed");
  CHECK(first.at("severity").as_string() == "error");
}

TEST_CASE("plugin check names the fault of a file that is not a plugin") {
  const Finished text = koordctl({"plugin", "check", "/etc/passwd"});
  CHECK(text.exit_status == 1);
  CHECK_MESSAGE(says(text, "'/etc/passwd': expected an ELF file, found another"), text.output);
  const Finished nothing = koordctl({"plugin", "check", "/no/such.so"});
  CHECK(nothing.exit_status == 1);
  CHECK_MESSAGE(says(nothing, "No such file or directory"), nothing.output);
  const Finished version = koordctl({"plugin", "check", bad_plugin_file("sound"), "--glibc", "new"});
  CHECK(version.exit_status == 1);
  CHECK_MESSAGE(says(version, "--glibc 'new' is not a version, expected one such as 2.31"), version.output);
}

TEST_CASE("plugin explain describes a rule and the fix of a violation") {
  const Finished shown = koordctl({"plugin", "explain", "K012"});
  CHECK(shown.exit_status == 0);
  CHECK_MESSAGE(says(shown, "K012: a plugin has the same manifest in its module as in its file"), shown.output);
  CHECK_MESSAGE(says(shown, "Fix: "), shown.output);
}

TEST_CASE("plugin explain lists the rules if the name is unknown") {
  const Finished shown = koordctl({"plugin", "explain", "K999"});
  CHECK(shown.exit_status == 1);
  CHECK_MESSAGE(says(shown, "no rule is called 'K999'; there are K001 K002"), shown.output);
}
