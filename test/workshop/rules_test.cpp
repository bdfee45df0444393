// SPDX-License-Identifier: Apache-2.0
// Checks each rule for plugins with a plugin that breaks only this rule.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/workshop/check/check.hpp"

using namespace koord;

namespace {

std::string bad_plugin(const std::string& name) {
  const char* folder = std::getenv("KOORD_BAD_PLUGINS");
  if (!folder) throw std::runtime_error("KOORD_BAD_PLUGINS is not set: run this with meson test");
  return std::string(folder) + "/" + name + ".so";
}

using Broken = std::map<std::string, std::string>;  // rule, detail

Broken broken_by(const std::string& name, const check::CheckOptions& options = {}) {
  Broken broken;
  const Result<void> checked =
      check::check_plugin(bad_plugin(name), options, [&](const check::Rule& rule, const check::Outcome& outcome) {
        if (outcome.kind == check::Outcome::Kind::failed) broken[rule.name()] = outcome.detail;
      });
  REQUIRE_MESSAGE(checked, checked.error().message());
  return broken;
}

struct Bad {
  const char* plugin;
  const char* rule;
  const char* detail;  // a part of the reported detail
};

constexpr Bad kBad[] = {
    {"second_export", "K001", "another_export"},
    {"unique_symbol", "K002", "value"},
    {"undefined_symbol", "K003", "defined_nowhere"},
    {"text_relocation", "K005", "TEXTREL"},
    {"executable_stack", "K006", "executable stack"},
    {"lazy_binding", "K007", "bound lazily"},
    {"run_path", "K008", "/opt/acme/lib"},
    {"broken_manifest", "K009", "gate"},
    {"panic_abort", "K010", "panic=abort"},
    {"constructor_aborts", "K011", "signal 6 (Aborted) in its constructors"},
    {"other_manifest", "K012", "another text"},
    {"two_modules", "K013", "another pointer"},
    {"changed_sigpipe", "K014", "SIGPIPE"},
    {"failing_tick", "K021", "collect(): KOORD_E_IO"},
    {"endless_run", "K022", "had not returned 5 s after"},
    {"leaked_descriptor", "K023", "100 more open descriptors after 100 sessions"},
    {"leaked_thread", "K024", "100 more threads after 100 sessions"},
    {"leaked_memory", "K025", "bytes more on the heap"},
    {"global_state", "K026", "in collect() of one instance, through the host of another"},
    {"early_service", "K027", "get_service(koord.metrics/1) in create()"},
    {"late_call", "K028", "log through the host of an instance"},
    {"needless_requirement", "K041", "without koord.state/1"},
    {"needed_option", "K042", "without koord.config/1"},
    {"ignored_status", "K043", "in collect() of class 'bad', every service answers KOORD_E_AGAIN after init()"},
    {"trusted_length", "K044", "in init() of class 'bad'"},
    {"divided_by_time", "K045",
     "signal 8 (Floating point exception) in collect() of class 'bad', two ticks at the same time"},
    {"fixed_array", "K046", "5000 pods"},
    {"unasked_members", "K047", "signal 11 (Segmentation fault) in init()"},
    {"exact_size", "K048", "longer than plugin.h has them"},
    {"steps_by_size", "K049", "further apart"},
    {"written_text", "K050", "signal 11 (Segmentation fault) in collect()"},
    {"kept_pointer", "K051", "signal 11 (Segmentation fault) in collect()"},
    {"thrown_exception", "K052", "init() threw: no metric"},
};

}  // namespace

TEST_CASE("acceptance 17: each bad plugin breaks exactly its own rule, and the detail says how") {
  for (const Bad& bad : kBad) {
    CAPTURE(std::string(bad.plugin));
    Broken broken = broken_by(bad.plugin);
    CHECK_MESSAGE(broken[bad.rule].find(bad.detail) != std::string::npos, bad.rule << ": " << broken[bad.rule]);
    broken.erase(bad.rule);
    for (const auto& other : broken)
      CHECK_MESSAGE(false, other.first << ": " << other.second);  // clang 14 cannot capture structured bindings
  }
}

TEST_CASE("a plugin that needs a C library that is too new breaks K004, and the detail names the symbol") {
  CHECK(broken_by("new_glibc").empty());
  check::CheckOptions older;
  older.floor.glibc = "2.31";
  const Broken broken = broken_by("new_glibc", older);
  REQUIRE(broken.size() == 1);
  CHECK_MESSAGE(broken.at("K004").find("GLIBC_2.32 (sigabbrev_np)") != std::string::npos, broken.at("K004"));
}

TEST_CASE("packed relocations need the C library of Debian 12") {
  check::CheckOptions older;
  older.floor.glibc = "2.35";
  const Broken broken = broken_by("sound", older);
  REQUIRE(broken.size() == 1);
  CHECK_MESSAGE(broken.at("K004").find("GLIBC_ABI_DT_RELR") != std::string::npos, broken.at("K004"));
}

TEST_CASE("the plugin on which the bad ones are based breaks no rule") {
  const Broken broken = broken_by("sound");
  CHECK_MESSAGE(broken.empty(), broken.begin()->first << ": " << broken.begin()->second);
}

TEST_CASE("every rule has a bad plugin") {
  std::set<std::string> caught{"K004"};
  for (const Bad& bad : kBad) caught.insert(bad.rule);
  for (const check::Rule& rule : check::rules()) CHECK_MESSAGE(caught.contains(rule.name()), rule.name());
}

TEST_CASE("every rule has its own number, in order, and a text with a fix") {
  unsigned last = 0;
  for (const check::Rule& rule : check::rules()) {
    CAPTURE(rule.name());
    CHECK(rule.number > last);
    last = rule.number;
    const auto lines = std::count(rule.text.begin(), rule.text.end(), '\n');
    CHECK(lines >= 2);
    CHECK(lines <= 10);
    CHECK(rule.text.find("Fix: ") != std::string_view::npos);
    CHECK(check::find_rule(rule.name()) == &rule);
  }
}

TEST_CASE("with file-only no code of the plugin runs") {
  check::CheckOptions options;
  options.file_only = true;
  CHECK(broken_by("constructor_aborts", options).empty());
}
