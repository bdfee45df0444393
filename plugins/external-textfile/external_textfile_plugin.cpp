// SPDX-License-Identifier: Apache-2.0
// external-textfile: imports metrics from files that scripts and timers write, "*.prom" in one directory. Each file is
// a target that the host reads; this plugin lists them.
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "koordetector/plugin.hpp"
#include "plugins/external-textfile/folder.hpp"
#include "plugins/shared/sdk/joined.hpp"
#include "plugins/shared/sdk/scrape_limits.hpp"

namespace {

using namespace koord::external_textfile;
using koord::plugin::Batch;
using koord::plugin::Config;
using koord::plugin::Failure;
using koord::plugin::Metric;
using koord::plugin::ScrapeTarget;
using koord::plugin::ScrapeTargets;

constexpr auto kConfigSchema = koord::settings::joined(R"json({
  "type": "object", "additionalProperties": false, "properties": {
    "directory": {"type": "string", "pattern": "^/", "maxLength": 3000, "description": "where the *.prom files are"},
    "maxAgeSeconds": {"type": "number", "minimum": 0, "maximum": 1000000000,
                      "description": "an older file is not read; default 0: no limit"},)json",
                                                       koord::settings::kScrapeLimits, R"json(
  }})json");

class ExternalTextfile final : public koord::plugin::ExternalAdvisor {
 public:
  void init() override {
    metrics_ = koord::plugin::require<koord_svc_metrics>(host(), "koord.metrics/1");
    clock_ = koord::plugin::require<koord_svc_clock>(host(), "koord.clock/1");
    batch_ = Batch(host());
    read_config();
    if (directory_.empty()) throw Failure(KOORD_E_UNSUPPORTED, "no directory configured");
    mtime_ =
        define({"textfile_mtime_seconds", "seconds", "Modification time of a file of metrics, in Unix seconds.", 1e-3});
  }

  void on_event(std::uint32_t what, std::uint64_t) override {
    if (what == KOORD_ON_CONFIG) read_config();
  }

  void targets(const ScrapeTargets& list) override {
    if (directory_.empty()) return;
    koord::Result<std::vector<File>> files = files_in(directory_);
    if (!files) throw Failure(KOORD_E_IO, files.error().message());
    const Choice choice = choose(*files, static_cast<std::int64_t>(clock_->wall_ns(host())), max_age_ns_);
    for (const File& file : choice.read) {
      ScrapeTarget target = limits_;
      target.name = file.name;
      target.url = "file:" + directory_ + "/" + file.name;
      list.add(target);
    }
    report_times(choice);
    log_left_out(choice);
  }

 private:
  void read_config() {
    const Config config(host());
    directory_ = config.string("/directory").value_or("");
    while (directory_.size() > 1 && directory_.back() == '/') directory_.pop_back();
    max_age_ns_ = std::llround(config.f64("/maxAgeSeconds").value_or(0) * 1e9);
    koord::settings::read_scrape_limits(config, "", limits_);
  }

  // Reports the times of all files, including stale files, because alerts need them.
  void report_times(const Choice& choice) {
    std::unordered_map<std::string, std::uint64_t> now;
    for (const std::vector<File>* files : {&choice.read, &choice.stale}) {
      for (const File& file : *files) {
        auto known = series_.find(file.name);
        const std::uint64_t series =
            known != series_.end() ? known->second : mtime_.series(KOORD_NO_SUBJECT, {{"file", file.name}});
        batch_.add(series, static_cast<double>(file.modified_ns) * 1e-9);
        now.emplace(file.name, series);
      }
    }
    for (const auto& [name, series] : series_) {
      if (!now.count(name)) koord::plugin::check(metrics_->end_series(host(), series), "ending the series of a file");
    }
    series_ = std::move(now);
    batch_.send(clock_->now_ns(host()));
  }

  // Logs the files that were left out, once for each change.
  void log_left_out(const Choice& choice) {
    std::string now;
    if (choice.too_many > 0)
      now +=
          std::to_string(choice.too_many) + " files are too many, expected at most " + std::to_string(kMaxFiles) + "; ";
    if (choice.not_regular > 0) now += std::to_string(choice.not_regular) + " are no regular files; ";
    for (const File& file : choice.stale) now += "'" + file.name + "' is too old; ";
    if (now != left_out_ && !now.empty()) log(KOORD_LOG_WARN, "'" + directory_ + "': " + now + "leaving those out");
    left_out_ = std::move(now);
  }

  const koord_svc_metrics* metrics_ = nullptr;
  const koord_svc_clock* clock_ = nullptr;
  Batch batch_;
  Metric mtime_;
  std::string directory_;
  std::int64_t max_age_ns_ = 0;
  ScrapeTarget limits_;
  std::unordered_map<std::string, std::uint64_t> series_;  // key: name of the file
  std::string left_out_;
};

}  // namespace

KOORD_PLUGIN("id=external-textfile\n"
             "version=1.0.0\n"
             "kinds=koord.external-advisor/1\n"
             "gate=ExternalTextfile\n"
             "stage=beta\n"
             "default=true\n"
             "requires=koord.clock/1,koord.config/1,koord.metrics/1\n"
             "license=Apache-2.0\n"
             "description=metrics that others write to files\n",
             koord::plugin::external_advisor<ExternalTextfile>("external-textfile", std::chrono::seconds(15),
                                                               kConfigSchema.data()))
