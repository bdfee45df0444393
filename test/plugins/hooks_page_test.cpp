// SPDX-License-Identifier: Apache-2.0
// Compares plugins/HOOKS.md with the hooks' sources and with the host's tables of fields and knobs.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/hook/field_intents.hpp"
#include "core/knob/knob.hpp"

using namespace koord;
namespace fs = std::filesystem;

namespace {

struct FieldRow {
  std::string hook, field, knob, v2, v1, delivered;
};

fs::path plugins_folder() {
  const char* source = std::getenv("KOORD_SOURCE");
  REQUIRE(source);
  return fs::path(source) / "plugins";
}

std::string page() { return *read_file((plugins_folder() / "HOOKS.md").string()); }

std::string without_ticks(std::string_view cell) {
  std::string text(trim(cell));
  std::erase(text, '`');
  return text;
}

// Returns the rows of the table of files.
std::vector<FieldRow> field_rows() {
  std::vector<FieldRow> rows;
  const std::string all = page();
  std::string_view rest = all;
  while (auto line = next_field(rest, '\n')) {
    if (!line->starts_with("| `hook-")) continue;
    std::vector<std::string> cells;
    while (auto cell = next_field(*line, '|')) cells.push_back(without_ticks(*cell));
    if (cells.size() >= 7) rows.push_back({cells[1], cells[2], cells[3], cells[4], cells[5], cells[6]});
  }
  return rows;
}

std::string text_of(const std::vector<std::string_view>& files) {
  std::vector<std::string> names(files.begin(), files.end());
  return join(names, ", ");
}

std::set<std::string> hooks_in_the_tree() {
  std::set<std::string> hooks;
  for (const fs::directory_entry& folder : fs::directory_iterator(plugins_folder()))
    if (folder.path().filename().string().starts_with("hook-")) hooks.insert(folder.path().filename().string());
  return hooks;
}

// Returns the fields in a hook's source texts: "linux.cpu.quota", "env:".
std::set<std::string> fields_in_sources(const std::string& hook) {
  std::set<std::string> fields;
  for (const fs::directory_entry& file : fs::directory_iterator(plugins_folder() / hook)) {
    const std::string name = file.path().filename().string();
    if (!name.ends_with(".cpp") || name.ends_with("_test.cpp")) continue;
    const std::string text = *read_file(file.path().string());
    for (const char* prefix : {"\"env:", "\"mount:", "\"device:", "\"annotation:"})
      if (text.find(prefix) != std::string::npos) fields.insert(std::string(prefix + 1));
    for (std::size_t at = text.find("\"linux."); at != std::string::npos; at = text.find("\"linux.", at + 1))
      fields.insert(text.substr(at + 1, text.find('"', at + 1) - at - 1));
  }
  return fields;
}

}  // namespace

TEST_CASE("the page of hooks lists each hook with the fields that its sources set, and no others") {
  std::map<std::string, std::set<std::string>> listed;
  for (const FieldRow& row : field_rows()) listed[row.hook].insert(row.field);
  REQUIRE(hooks_in_the_tree().size() >= 10);
  for (const std::string& hook : hooks_in_the_tree()) {
    CAPTURE(hook);
    CHECK(join({listed[hook].begin(), listed[hook].end()}, " ") ==
          join(
              [&] {
                const std::set<std::string> fields = fields_in_sources(hook);
                return std::vector<std::string>(fields.begin(), fields.end());
              }(),
              " "));
    CHECK(page().find("](" + hook + "/README.md)") != std::string::npos);
  }
  CHECK(listed.size() == hooks_in_the_tree().size());
}

TEST_CASE("the page of hooks has the host's knob and kernel files of each field, and when they are written") {
  for (const FieldRow& row : field_rows()) {
    CAPTURE(row.hook);
    CAPTURE(row.field);
    CHECK(row.knob == hook::knob_of(row.field));
    CHECK((row.delivered == "creation" || row.delivered == "afterwards" || row.delivered == "creation, afterwards"));
    if (row.delivered.ends_with("afterwards")) CHECK_FALSE(row.knob.empty());
    if (row.knob.empty()) {
      CHECK(row.delivered == "creation");
      continue;
    }
    const knob::Knob& knob = *knob::find_knob(row.knob);
    CHECK(row.v2 == text_of(knob::files_of(knob, cgroup::Version::v2)));
    CHECK(row.v1 == text_of(knob::files_of(knob, cgroup::Version::v1)));
  }
}

TEST_CASE("the page of hooks names the gate of each hook's manifest") {
  for (const std::string& hook : hooks_in_the_tree()) {
    CAPTURE(hook);
    std::string gate;
    for (const fs::directory_entry& file : fs::directory_iterator(plugins_folder() / hook)) {
      if (!file.path().string().ends_with("_plugin.cpp")) continue;
      const std::string text = *read_file(file.path().string());
      const std::size_t at = text.find("\"gate=");
      REQUIRE(at != std::string::npos);
      gate = text.substr(at + 6, text.find('\\', at) - at - 6);
    }
    CHECK(page().find("[" + hook + "](" + hook + "/README.md)") != std::string::npos);
    CHECK(page().find("| `" + gate + "`") != std::string::npos);
  }
}
