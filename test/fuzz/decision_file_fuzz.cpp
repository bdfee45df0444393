// SPDX-License-Identifier: Apache-2.0
// A file of decisions with any content. It is read, or renamed and replaced. After that it must store and find a new
// decision.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/file.hpp"
#include "core/decision/decision_file.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
namespace fs = std::filesystem;

namespace {

// A folder in memory, so writes do not wait for a disk. Removed with the process.
struct Place {
  Place() { check(::mkdtemp(path.data()) != nullptr); }
  ~Place() { fs::remove_all(path); }

  std::string put(std::string_view content) const {
    fs::remove_all(path + "/qos");
    fs::create_directory(path + "/qos");
    check(write_file_atomically(path + "/qos/decisions.db", content, 0600).has_value());
    return path + "/qos/decisions.db";
  }

  std::string path = "/dev/shm/koord-test-decisions-XXXXXX";
};

// Checks that a page matches its query: right order of the numbers, and at most `limit` decisions.
void check_page(const decision::DecisionQuery& query, const decision::DecisionPage& page) {
  check(page.decisions.size() <= query.limit);
  for (std::size_t i = 0; i < page.decisions.size(); ++i) {
    check(query.knob.empty() || page.decisions[i].knob == query.knob);
    check(i == 0 || static_cast<std::int64_t>(page.decisions[i - 1].number) <
                        static_cast<std::int64_t>(page.decisions[i].number));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Place place;
  if (size > 1 << 16) return 0;
  const std::string path = place.put({reinterpret_cast<const char*>(data), size});
  std::string reported;
  const auto file = decision::DecisionFile::open(path, 1u << 20, 1'700'000'000'000'000'000, reported);
  if (!file) {
    check(!file.error().message().empty());
    return 0;
  }
  for (const decision::DecisionQuery& query :
       {decision::DecisionQuery{}, decision::DecisionQuery{.knob = "cpu.max", .limit = 2}})
    if (const auto page = (*file)->find(query)) check_page(query, *page);
  const auto last = (*file)->last_number();
  const decision::Decision fresh{
      .number = last.value_or(0) + 1, .wall_ns = 1, .knob = "koord.fuzz", .inputs = {{"a", "1"}}};
  const auto written = (*file)->write({&fresh, 1});
  check(written.has_value() || !written.error().message().empty());
  // A new file must store and find the decision.
  if (size > 0 && reported.empty()) return 0;
  const auto page = (*file)->find({.knob = fresh.knob});
  check(written && page && page->decisions == std::vector{fresh});
  return 0;
}
