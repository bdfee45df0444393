// SPDX-License-Identifier: Apache-2.0
// Reads the active verdicts of all plugins after each change, and reports them as metrics.
#include <chrono>
#include <koordetector/plugin.hpp>
#include <koordetector/verdicts.hpp>
#include <map>
#include <string>

using namespace koord::plugin;

namespace {

class VerdictReader : public Advisor {
 public:
  void init() override {
    verdicts_ = Verdicts(host());
    batch_ = Batch(host());
    standing_ = define({"test_standing_verdict", "", "1: a verdict of this plugin stands."});
    events_series_ = define({"test_verdict_events", "", "Events about verdicts."}).series();
    generation_series_ = define({"test_verdict_generation", "", "Generation of the verdicts."}).series();
    verdicts_.subscribe();
  }

  void on_event(std::uint32_t what, std::uint64_t) override {
    if (what == KOORD_ON_VERDICTS) ++events_;
  }

  void collect(std::uint64_t now_ns, std::uint64_t /*deadline_ns*/) override {
    for (auto& [series, value] : values_) value = 0;
    const VerdictList list = verdicts_.list();
    for (const koord_verdict& verdict : list.verdicts()) values_[series_of(verdict)] = 1;
    for (const auto& [series, value] : values_) batch_.add(series, value);
    batch_.add(events_series_, events_);
    batch_.add(generation_series_, static_cast<double>(list.generation()));
    batch_.send(now_ns);
  }

 private:
  std::uint64_t series_of(const koord_verdict& verdict) const {
    const std::string kind = std::to_string(verdict.kind), origin = std::to_string(verdict.origin);
    return standing_.series(
        KOORD_NO_SUBJECT,
        {{"from", view(verdict.plugin)}, {"kind", kind}, {"origin", origin}, {"victim", view(verdict.victim_name)}});
  }

  Verdicts verdicts_;
  Batch batch_;
  Metric standing_;
  std::uint64_t events_series_ = 0, generation_series_ = 0;
  double events_ = 0;
  std::map<std::uint64_t, double> values_;
};

}  // namespace

KOORD_PLUGIN("id=com.example.verdict-reader\nversion=1.0.0\nkinds=koord.advisor/1\ngate=VerdictReader\n"
             "requires=koord.metrics/1,koord.verdict/1\n",
             advisor<VerdictReader>("verdict-reader", std::chrono::milliseconds(100)))
