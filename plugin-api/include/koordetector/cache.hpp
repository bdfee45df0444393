// SPDX-License-Identifier: Apache-2.0
// Data that the host stores for plugins, in C++: the history of metrics (History, of koord.metrics/1) and facts that
// change rarely (Kv, of koord.kv/1). Header-only, C++17; plugin.hpp includes it. The contract (threads, units, errors)
// is in plugin.h. [any]
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "koordetector/services.hpp"

namespace koord::plugin {

// Returns any number of rows that a service writes to the caller's array. `ask` takes the array, its capacity and the
// address of the count. A status other than KOORD_OK and KOORD_E_TOO_SMALL becomes a Failure.
template <class Row, class Ask>
std::vector<Row> rows_of(Ask&& ask) {
  std::vector<Row> rows(16);
  for (;;) {
    std::uint32_t need = 0;
    const koord_status status = ask(rows.data(), static_cast<std::uint32_t>(rows.size()), &need);
    if (status != KOORD_E_TOO_SMALL) check(status, "asking the host for rows");
    rows.resize(status == KOORD_OK || need > rows.size() ? need : 2 * rows.size());
    if (status == KOORD_OK) return rows;
  }
}

// A query of the history.
struct Query {
  std::string_view metric;
  std::uint32_t aggregation = KOORD_AGG_LAST;  // ignored by samples()
  std::uint64_t from_ns = 0, to_ns = 0;        // host time, inclusive; to_ns 0 means now
  std::uint64_t subject = KOORD_NO_SUBJECT;    // a handle; KOORD_NO_SUBJECT: every subject
  std::vector<Label> labels = {};              // all must match; none: every series of the metric
};

// The metric cache: samples of all plugins.
//   Query query;
//   query.metric = "pod_cpu_usage";
//   query.aggregation = KOORD_AGG_P95;
//   query.from_ns = now_ns - 300'000'000'000;
//   for (const koord_agg_row& row : history_.aggregate(query)) …
class History {
 public:
  History() = default;
  explicit History(const koord_host* host)
      : host_(host), metrics_(require<koord_svc_metrics>(host, "koord.metrics/1")) {}

  // Returns one row for each series. A series without a sample in the window has no row.
  std::vector<koord_agg_row> aggregate(const Query& query) const { return ask(query, metrics_->aggregate); }
  // Returns the samples themselves.
  std::vector<koord_sample> samples(const Query& query) const { return ask(query, metrics_->samples); }

 private:
  template <class Row>
  std::vector<Row> ask(const Query& query,
                       koord_status (*function)(const koord_host*, const koord_query*, Row*, std::uint32_t,
                                                std::uint32_t, std::uint32_t*)) const {
    std::vector<koord_label> list;
    for (const Label& label : query.labels) list.push_back({str(label.key), str(label.value)});
    const koord_query record = {
        sizeof record,      query.aggregation, str(query.metric), query.from_ns,
        query.to_ns,        query.subject,     list.data(),       static_cast<std::uint32_t>(list.size()),
        sizeof(koord_label)};
    return rows_of<Row>([&](Row* rows, std::uint32_t cap, std::uint32_t* need) {
      return function(host_, &record, rows, cap, sizeof(Row), need);
    });
  }

  const koord_host* host_ = nullptr;
  const koord_svc_metrics* metrics_ = nullptr;
};

// Facts that change rarely, of this plugin and of others.
class Kv {
 public:
  Kv() = default;
  explicit Kv(const koord_host* host) : host_(host), kv_(require<koord_svc_kv>(host, "koord.kv/1")) {}

  // Returns the value of an own key, or of any plugin's key as "<plugin id>/<key>". nullopt: missing or expired.
  std::optional<std::string> get(std::string_view key) const {
    bool found = true;
    std::string value = text_of([&](char* buf, std::uint64_t cap, std::uint64_t* need) {
      const koord_status status = kv_->get(host_, str(key), buf, cap, need);
      found = status != KOORD_E_NOT_FOUND;
      return found ? status : KOORD_OK;
    });
    return found ? std::optional(std::move(value)) : std::nullopt;
  }
  // Sets an own key. With `ttl` 0 the value stays until it is replaced.
  void set(std::string_view key, std::string_view value, std::chrono::nanoseconds ttl = {}) const {
    check(kv_->set(host_, str(key), value.data(), value.size(), detail::nanoseconds(ttl, "the ttl of a key")),
          "setting the key " + std::string(key));
  }
  // Removes an own key; a missing key is no failure. Failure KOORD_E_UNSUPPORTED on a host of 1.0.
  void remove(std::string_view key) const {
    if (!KOORD_HAS(kv_, remove)) throw Failure(KOORD_E_UNSUPPORTED, "this host is older than 1.1 and has no remove()");
    check(kv_->remove(host_, str(key)), "removing the key " + std::string(key));
  }

 private:
  const koord_host* host_ = nullptr;
  const koord_svc_kv* kv_ = nullptr;
};

}  // namespace koord::plugin
