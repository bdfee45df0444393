// SPDX-License-Identifier: Apache-2.0
// kidled: a kernel thread of Alibaba Cloud Linux and Anolis that ages every page.
#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "plugins/advisor-cold-memory/cold_source.hpp"
#include "plugins/advisor-cold-memory/idle_page_stats.hpp"
#include "plugins/shared/node/value_file.hpp"

namespace koord::cold_memory {
namespace {

constexpr const char* kScanPeriod = "5";  // seconds

class Kidled final : public ColdSource {
 public:
  Kidled(std::string control, std::string memory, std::chrono::seconds age, std::string period, std::string hierarchy,
         std::string token)
      : control_(std::move(control)),
        memory_(std::move(memory)),
        age_(age),
        period_(std::move(period)),
        hierarchy_(std::move(hierarchy)),
        token_(std::move(token)) {}
  ~Kidled() override { Kidled::stop(); }

  const char* name() const override { return "kidled"; }

  // If a different process has already started the scan, its period is kept, because ages are computed with the period
  // in the file.
  Result<void> start(std::uint64_t) override {
    if (period_ != "0") return {};
    started_ = true;
    TRY(write_value(control_ + "/use_hierarchy", "1"));
    return write_value(control_ + "/scan_period_in_seconds", kScanPeriod);
  }
  std::string note() const override { return "kidled " + period_ + " " + hierarchy_ + " " + token_; }

  void stop() override {
    if (!started_) return;
    started_ = false;
    static_cast<void>(write_value(control_ + "/scan_period_in_seconds", period_).has_value());
    static_cast<void>(write_value(control_ + "/use_hierarchy", hierarchy_).has_value());
  }

  void leave() override { started_ = false; }

  Result<std::optional<double>> node(std::uint64_t) override { return read(""); }
  bool knows_cgroups() const override { return true; }
  Result<std::optional<double>> cgroup(std::string_view dir) override { return read(dir); }

 private:
  Result<std::optional<double>> read(std::string_view dir) const {
    const std::string path = memory_ + "/" + std::string(dir) + "/memory.idle_page_stats";
    Result<std::string> text = read_file(path, 1u << 16);
    if (!text && (text.error().is(std::errc::no_such_file_or_directory) || text.error().is(std::errc::no_such_device)))
      return std::optional<double>();
    if (!text) return std::move(text).error();
    Result<IdleFilePages> pages = parse_idle_page_stats(*text, age_);
    if (!pages) return std::move(pages).error().context("'" + path + "'");
    // Without hierarchy the values only include the cgroup's own processes. A pod's cgroup has none, and the root has
    // few.
    return pages->hierarchical ? std::optional(pages->bytes) : std::nullopt;
  }

  std::string control_, memory_;
  std::chrono::seconds age_;
  std::string period_, hierarchy_, token_;
  bool started_ = false;
};

}  // namespace

Result<std::unique_ptr<ColdSource>> find_kidled(const NodeRoots& roots, std::chrono::seconds age,
                                                const std::string& before, const std::string& token) {
  const std::string control = roots.sys + "/kernel/mm/kidled";
  std::optional<std::string> period = node::read_text(control + "/scan_period_in_seconds");
  std::optional<std::string> hierarchy = node::read_text(control + "/use_hierarchy");
  if (!period || !hierarchy) return invalid("the kernel has no kidled");
  std::string memory = roots.cgroup + "/memory";
  if (!node::exists(memory + "/memory.idle_page_stats")) memory = roots.cgroup;
  if (!node::exists(memory + "/memory.idle_page_stats"))
    return invalid("kidled without memory.idle_page_stats in '" + roots.cgroup + "'");
  // A process that died has not reverted its settings.
  const std::vector<std::string> note = split(before, ' ');
  if (note.size() == 4 && note[0] == "kidled") {
    period = note[1];
    hierarchy = note[2];
  }
  return std::unique_ptr<ColdSource>(new Kidled(control, memory, age, *period, *hierarchy, token));
}

}  // namespace koord::cold_memory
