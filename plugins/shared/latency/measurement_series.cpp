// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/latency/measurement_series.hpp"

namespace koord::latency {

using plugin::Metric;

MeasurementSeries::MeasurementSeries(const koord_host* host, const std::string& prefix, const std::string& cases)
    : host_(host) {
  const std::string name = prefix + "_latency_";
  const std::string lost_help =
      "Lost " + cases +
      ", by reason. no_slot: no slot was free for the cgroup, or it was removed already; only the "
      "node's values have them. no_begin: the begin could not be kept. missed: the kernel "
      "did not run the program at a begin or end, which came while it counted the one before.";
  lost_ = Metric(host, {name + "lost_total", cases, lost_help, 1, KOORD_COUNTER});
  lost_no_slot_ = lost("no_slot");
  lost_no_begin_ = lost("no_begin");
  lost_missed_ = lost("missed");
  slots_used_ = Metric(host, {name + "slots_used", "slots", "Cgroups with a histogram in the kernel."}).series();
  info_ = Metric(host, {name + "info", "", "Source of these latencies, in the label source; always 1."});
}

void MeasurementSeries::set_source(std::string_view source) {
  if (info_series_ != 0)
    plugin::check(plugin::require<koord_svc_metrics>(host_, "koord.metrics/1")->end_series(host_, info_series_),
                  "ending the series of a source");
  info_series_ = info_.series(KOORD_NO_SUBJECT, {{"source", source}});
}

}  // namespace koord::latency
