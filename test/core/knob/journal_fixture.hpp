// SPDX-License-Identifier: Apache-2.0
// JournalFixture: journals in a temporary folder, and originals to store in them.
#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/manual_clock.hpp"
#include "core/knob/journal.hpp"
#include "core/knob/journal_file.hpp"
#include "core/sqlite/connection.hpp"
#include "test/core/store/temporary_directory.hpp"

namespace koord::test {

inline knob::Original quota(std::string dir, std::vector<knob::Texts> asked = {{"20000", "100000"}},
                            std::uint64_t cgroup = 7) {
  return {.key = {std::move(dir), "cpu.max", ""},
          .level = decision::Level::pod,
          .knob = "cpu.max",
          .cgroup = cgroup,
          .texts = {"-1", "100000"},
          .written = {"-1", "100000"},
          .asked = std::move(asked),
          .plugin = "qos-cpu-suppress",
          .ttl = std::chrono::seconds(30)};
}

struct JournalFixture {
  TemporaryDirectory place;
  ManualClock clock;
  const std::string directory = place / "qos";

  std::unique_ptr<knob::Journal> journal(std::string boot = "this boot") const {
    return std::make_unique<knob::Journal>(knob::Journal::Options{directory, std::move(boot)}, clock);
  }
  knob::Journal::Found found(knob::Journal& journal) const {
    Result<knob::Journal::Found> opened = journal.open();
    REQUIRE_MESSAGE(opened, opened.error().message());
    return *std::move(opened);
  }
  knob::Journal::Found found() const { return found(*journal()); }
  static Result<void> keep(knob::Journal& journal, const std::vector<knob::Original>& knobs) {
    return journal.keep(knobs);
  }
  void keep(const std::vector<knob::Original>& knobs) const {
    const auto one = journal();
    found(*one);
    const Result<void> kept = keep(*one, knobs);
    REQUIRE_MESSAGE(kept, kept.error().message());
  }
  void damage(std::string_view bytes, std::streamoff at) const {
    std::fstream file(knob::journal_path(directory), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    REQUIRE(file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush());
  }
  void run(const std::string& sql) const {
    auto connection = sqlite::Connection::open(knob::journal_path(directory), sqlite::Connection::Access::read_write);
    REQUIRE(connection);
    REQUIRE(connection->execute(sql));
  }
};

inline bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace koord::test
