// SPDX-License-Identifier: Apache-2.0
// Host services for plugins about the node itself: the roots of its file trees, stored facts, and a counter of rounds.
// Header-only. On the instance's strand, or in init().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/node_roots.hpp"
#include "koordetector/plugin.hpp"

namespace koord::node {

inline NodeRoots roots_of(const koord_host* host) {
  const auto* fs = plugin::require<koord_svc_fs>(host, "koord.fs/1");
  const auto path = [&](std::uint32_t root) {
    return plugin::text_of(
        [&](char* buf, std::uint64_t cap, std::uint64_t* need) { return fs->path(host, root, buf, cap, need); });
  };
  return {path(KOORD_ROOT_PROC), path(KOORD_ROOT_SYS), path(KOORD_ROOT_CGROUP), path(KOORD_ROOT_RESCTRL),
          path(KOORD_ROOT_RUN)};
}

// One key of koord.kv/1 that holds a JSON text, written only when the text has changed.
class Fact {
 public:
  Fact() = default;
  Fact(const koord_host* host, std::string_view key)
      : host_(host), kv_(plugin::require<koord_svc_kv>(host, "koord.kv/1")), key_(key) {}

  void put(const std::string& json) {
    if (json == last_) return;
    plugin::check(kv_->set(host_, plugin::str(key_), json.data(), json.size(), 0), "keeping '" + key_ + "'");
    last_ = json;
  }

 private:
  const koord_host* host_ = nullptr;
  const koord_svc_kv* kv_ = nullptr;
  std::string key_, last_;
};

// A counter of rounds by result, with koordlet's values of the label `status`.
class Rounds {
 public:
  Rounds() = default;
  explicit Rounds(const plugin::Metric& metric)
      : succeeded_(metric.series(KOORD_NO_SUBJECT, {{"status", "succeeded"}})),
        failed_(metric.series(KOORD_NO_SUBJECT, {{"status", "failed"}})) {}

  void count(bool success, plugin::Batch& batch) {
    (success ? n_succeeded_ : n_failed_) += 1;
    batch.add(succeeded_, static_cast<double>(n_succeeded_));
    batch.add(failed_, static_cast<double>(n_failed_));
  }

 private:
  std::uint64_t succeeded_ = 0, failed_ = 0;
  std::uint64_t n_succeeded_ = 0, n_failed_ = 0;
};

}  // namespace koord::node
