// SPDX-License-Identifier: Apache-2.0
// DAMON, the data access monitor of the mainline kernel, through its sysfs interface
// (Documentation/admin-guide/mm/damon/usage.rst). One kdamond monitors all system memory by physical address and finds
// regions in which no sampled page was accessed for the age. /proc/kpageflags shows whether a page there is page cache.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/file.hpp"
#include "core/base/page_size.hpp"
#include "core/base/parse.hpp"
#include "plugins/advisor-cold-memory/cold_source.hpp"
#include "plugins/advisor-cold-memory/memory_pages.hpp"
#include "plugins/shared/node/value_file.hpp"

namespace koord::cold_memory {
namespace {

// Every 200 ms, DAMON checks one page in each of at most 200 regions, which costs far less than 1 % of a CPU. A
// region's age increases by one for each 2 s without an access.
constexpr std::uint64_t kSampleUs = 200'000, kAggregationUs = 2'000'000, kUpdateUs = 60'000'000;
constexpr const char *kMinRegions = "20", *kMaxRegions = "200";
constexpr std::uint64_t kSamples = 16384;  // pages read from kpageflags

class PageFlags {
 public:
  Result<void> open(const std::string& path) {
    fd_ = TRY(open_at(AT_FDCWD, path, O_RDONLY));
    return {};
  }
  std::optional<std::uint64_t> of(std::uint64_t page) const {
    std::uint64_t flags = 0;
    const bool read = ::pread(fd_.get(), &flags, sizeof flags, static_cast<off_t>(page * sizeof flags)) == sizeof flags;
    return read ? std::optional(flags) : std::nullopt;
  }

 private:
  UniqueFd fd_;
};

class Damon final : public ColdSource {
 public:
  Damon(std::string admin, PageFlags flags, std::vector<Range> memory, std::chrono::seconds age)
      : admin_(std::move(admin)), flags_(std::move(flags)), memory_(std::move(memory)), age_(age) {}
  ~Damon() override { Damon::stop(); }

  const char* name() const override { return "DAMON"; }

  Result<void> start(std::uint64_t now_ns) override {
    started_ = true;
    Result<void> done = set_up();
    if (done) done = write_value(kdamond() + "/state", "on");
    if (!done) {
      stop();
      return done;
    }
    pid_ = node::read_text(kdamond() + "/pid").value_or("");
    began_ns_ = now_ns;
    return {};
  }
  std::string note() const override { return pid_.empty() ? "" : "damon " + pid_; }

  void stop() override {
    if (!started_) return;
    started_ = false;
    // The kdamond may belong to a successor meanwhile, which assumed that this process had died.
    if (!pid_.empty() && node::read_text(kdamond() + "/pid") != pid_) return;
    static_cast<void>(write_value(kdamond() + "/state", "off").has_value());
    static_cast<void>(write_value(admin_ + "/nr_kdamonds", "0").has_value());
  }

  void leave() override { started_ = false; }

  // Returns no value until a page can be that old, and between two polls.
  Result<std::optional<double>> node(std::uint64_t now_ns) override {
    const std::uint64_t age_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(age_).count());
    if (now_ns < began_ns_ + age_ns || (looked_ns_ != 0 && now_ns < looked_ns_ + age_ns / 5))
      return std::optional<double>();
    looked_ns_ = now_ns;
    TRY(write_value(kdamond() + "/state", "update_schemes_tried_regions"));
    const std::uint64_t page_bytes = static_cast<std::uint64_t>(page_size());
    return estimate_bytes(cold_regions(), page_bytes, kSamples, static_cast<std::uint32_t>(now_ns),
                          [&](std::uint64_t page) {
                            const std::optional<std::uint64_t> flags = flags_.of(page);
                            return flags ? std::optional(is_inactive_file(*flags)) : std::nullopt;
                          });
  }

  bool knows_cgroups() const override { return false; }
  Result<std::optional<double>> cgroup(std::string_view) override { return std::optional<double>(); }

 private:
  std::string kdamond() const { return admin_ + "/0"; }
  std::string context() const { return kdamond() + "/contexts/0"; }
  std::string scheme() const { return context() + "/schemes/0"; }

  Result<void> set_up() const {
    TRY(write_value(admin_ + "/nr_kdamonds", "1"));
    TRY(write_value(kdamond() + "/contexts/nr_contexts", "1"));
    TRY(write_value(context() + "/operations", "paddr"));
    const std::string attributes = context() + "/monitoring_attrs/";
    TRY(write_value(attributes + "intervals/sample_us", std::to_string(kSampleUs)));
    TRY(write_value(attributes + "intervals/aggr_us", std::to_string(kAggregationUs)));
    TRY(write_value(attributes + "intervals/update_us", std::to_string(kUpdateUs)));
    TRY(write_value(attributes + "nr_regions/max", kMaxRegions));
    TRY(write_value(attributes + "nr_regions/min", kMinRegions));
    TRY(set_up_target());
    return set_up_scheme();
  }

  Result<void> set_up_target() const {
    TRY(write_value(context() + "/targets/nr_targets", "1"));
    const std::string regions = context() + "/targets/0/regions";
    TRY(write_value(regions + "/nr_regions", std::to_string(memory_.size())));
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      TRY(write_value(regions + "/" + std::to_string(i) + "/start", std::to_string(memory_[i].start)));
      TRY(write_value(regions + "/" + std::to_string(i) + "/end", std::to_string(memory_[i].end)));
    }
    return {};
  }

  // Sets up a scheme that only reports the regions.
  Result<void> set_up_scheme() const {
    TRY(write_value(context() + "/schemes/nr_schemes", "1"));
    if (!node::exists(scheme() + "/tried_regions"))
      return invalid("this DAMON does not report regions (added in "
                     "Linux 6.2)");
    TRY(write_value(scheme() + "/action", "stat"));
    const std::string pattern = scheme() + "/access_pattern/";
    const std::uint64_t age = std::chrono::microseconds(age_).count() / kAggregationUs;
    TRY(write_value(pattern + "sz/max", std::to_string(UINT64_MAX)));
    TRY(write_value(pattern + "nr_accesses/max", "0"));
    TRY(write_value(pattern + "age/min", std::to_string(std::max<std::uint64_t>(age, 1))));
    return write_value(pattern + "age/max", std::to_string(UINT32_MAX));
  }

  std::vector<Range> cold_regions() const {
    const std::string directory = scheme() + "/tried_regions";
    std::vector<Range> regions;
    for (const std::string& name : list_subdirectories(directory).value_or({})) {
      const std::optional<std::int64_t> start = node::read_number(directory + "/" + name + "/start");
      const std::optional<std::int64_t> end = node::read_number(directory + "/" + name + "/end");
      if (start && end && *start >= 0 && *end > *start)
        regions.push_back({static_cast<std::uint64_t>(*start), static_cast<std::uint64_t>(*end)});
    }
    return regions;
  }

  std::string admin_;
  PageFlags flags_;
  std::vector<Range> memory_;
  std::chrono::seconds age_;
  std::string pid_;
  bool started_ = false;
  std::uint64_t began_ns_ = 0, looked_ns_ = 0;
};

// Ends a kdamond that an earlier process of the agent has started and not ended.
void end_orphan(const std::string& admin, const std::string& before) {
  const std::optional<std::string> pid = node::read_text(admin + "/0/pid");
  if (!pid || before != "damon " + *pid || node::read_number(admin + "/nr_kdamonds") != 1) return;
  static_cast<void>(write_value(admin + "/0/state", "off").has_value());
  static_cast<void>(write_value(admin + "/nr_kdamonds", "0").has_value());
}

}  // namespace

Result<std::unique_ptr<ColdSource>> find_damon(const NodeRoots& roots, std::chrono::seconds age,
                                               const std::string& before) {
  const std::string admin = roots.sys + "/kernel/mm/damon/admin/kdamonds";
  if (!node::exists(admin + "/nr_kdamonds")) return invalid("the kernel was built without DAMON's sysfs interface");
  end_orphan(admin, before);
  const std::optional<std::int64_t> kdamonds = node::read_number(admin + "/nr_kdamonds");
  if (kdamonds != 0)
    return invalid("DAMON is in use by another process: '" + admin + "/nr_kdamonds' is " +
                   (kdamonds ? std::to_string(*kdamonds) : "unreadable"));
  std::vector<Range> memory = parse_system_ram(node::read_text(roots.proc + "/iomem").value_or(""));
  if (memory.empty()) return invalid("'" + roots.proc + "/iomem' does not list memory: that needs CAP_SYS_ADMIN");
  PageFlags flags;
  if (Result<void> opened = flags.open(roots.proc + "/kpageflags"); !opened) return opened.error();
  return std::unique_ptr<ColdSource>(new Damon(admin, std::move(flags), std::move(memory), age));
}

}  // namespace koord::cold_memory
