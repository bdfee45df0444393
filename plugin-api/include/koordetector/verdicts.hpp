// SPDX-License-Identifier: Apache-2.0
// Verdicts in C++, koord.verdict/1: posts which containers are slowed down, and reads the verdicts of all plugins.
// Header-only, C++17. The contract (units, limits, errors) is in plugin.h. A host of 1.0 does not have the service.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "koordetector/plugin.hpp"

namespace koord::plugin {

// A value that the plugin does not know.
inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// A suspect that used the resource while the victim waited. Owns its texts.
struct Suspect {
  std::uint32_t kind = KOORD_SUSPECT_SUBJECT;  // KOORD_SUSPECT_*
  std::uint64_t subject = KOORD_NO_SUBJECT;    // handle, only for KOORD_SUSPECT_SUBJECT
  std::string name = {};                       // set by the host if the suspect is a subject
  double value = kUnknown;                     // amount, in Verdict::amount_unit
  double share = kUnknown;                     // 0 to 1
  double excess = kUnknown;                    // `value` minus the value in quiet times
  double usage = kUnknown, request = kUnknown;
};

// A verdict to post. Owns its texts.
struct Verdict {
  std::uint64_t victim = KOORD_NO_SUBJECT;        // handle
  std::uint32_t kind = KOORD_VERDICT_INTERFERED;  // KOORD_VERDICT_*
  std::uint32_t resource = KOORD_RESOURCE_CPU;    // KOORD_RESOURCE_*
  std::uint32_t method = KOORD_METHOD_SUSPECTED;  // KOORD_METHOD_*
  std::uint64_t from_ns = 0, to_ns = 0;           // host time, required
  std::uint32_t windows_over = 0, windows_seen = 0;
  std::string statistic, statistic_unit;  // required: "refaults", "1/s"
  double value = kUnknown;                // required
  double baseline = kUnknown, threshold = kUnknown;
  std::string amount_unit = {};  // unit of the next values and of the suspects' values: "seconds/second"
  double own = kUnknown, throttled = kUnknown, unexplained = kUnknown;
  std::vector<Suspect> suspects = {};                            // the largest value first
  std::vector<std::pair<std::string, std::string>> others = {};  // other evaluated resources, with their findings
  std::string note = {};
  std::chrono::nanoseconds ttl = std::chrono::seconds(60);  // ends unless posted again within this time
};

// An acquired list of the standing verdicts of all plugins; the destructor releases it.
class VerdictList {
 public:
  VerdictList(const koord_host* host, const koord_svc_verdict* table) : host_(host), table_(table) {
    check(table->acquire(host, &list_), "acquiring the list of verdicts");
  }
  VerdictList(VerdictList&& other) noexcept
      : host_(other.host_), table_(other.table_), list_(std::exchange(other.list_, nullptr)) {}
  VerdictList& operator=(VerdictList&&) = delete;
  ~VerdictList() {
    if (list_) table_->release(host_, list_);
  }

  // Valid while this object exists.
  Strided<koord_verdict> verdicts() const {
    std::uint32_t n = 0, stride = 0;
    const koord_verdict* first = table_->verdicts(list_, &n, &stride);
    return {first, n, stride};
  }
  std::uint64_t generation() const { return table_->generation(list_); }

 private:
  const koord_host* host_;
  const koord_svc_verdict* table_;
  const koord_verdict_list* list_ = nullptr;
};

inline Strided<koord_suspect> suspects_of(const koord_verdict& verdict) {
  return {verdict.suspects, verdict.n_suspects, verdict.suspect_stride};
}
inline Strided<koord_label> others_of(const koord_verdict& verdict) {
  return {verdict.others, verdict.n_others, verdict.other_stride};
}

class Verdicts {
 public:
  Verdicts() = default;
  explicit Verdicts(const koord_host* host)
      : host_(host), table_(require<koord_svc_verdict>(host, "koord.verdict/1")) {}
  // Does not throw if the host lacks the service: in that case is_offered() is false, and no other function may be
  // called.
  static Verdicts if_offered(const koord_host* host) {
    return host->get_service(host, "koord.verdict/1") ? Verdicts(host) : Verdicts();
  }
  bool is_offered() const { return table_ != nullptr; }

  // Adds verdicts, or replaces standing verdicts with the same victim, resource and kind. It posts all verdicts or
  // none. [any]
  void post(const std::vector<Verdict>& verdicts) const {
    std::vector<std::vector<koord_suspect>> suspects;
    std::vector<std::vector<koord_label>> others;
    std::vector<koord_verdict> records;
    for (const Verdict& verdict : verdicts) {
      suspects.push_back(records_of(verdict.suspects));
      others.push_back(detail::records_of(verdict.others));
      records.push_back(record_of(verdict, suspects.back(), others.back()));
    }
    check(table_->post(host_, records.data(), static_cast<std::uint32_t>(records.size()), sizeof(koord_verdict)),
          "posting verdicts");
  }

  // Ends a standing verdict of this plugin. Returns false if the verdict does not stand, which is normal after the end
  // of its victim. [any]
  bool end(std::uint64_t victim, std::uint32_t resource, std::uint32_t kind, std::string_view why = {}) const {
    const koord_status status = table_->end(host_, victim, resource, kind, str(why));
    if (status == KOORD_E_NOT_FOUND) return false;
    check(status, "ending a verdict");
    return true;
  }

  VerdictList list() const { return {host_, table_}; }  // [any]

  // Switches calls of on_event(KOORD_ON_VERDICTS, generation) after changes on or off. [any]
  void subscribe(bool on = true) const { check(table_->subscribe(host_, on ? 1 : 0), "subscribing to verdicts"); }

 private:
  static std::vector<koord_suspect> records_of(const std::vector<Suspect>& suspects) {
    std::vector<koord_suspect> records;
    for (const Suspect& suspect : suspects)
      records.push_back({sizeof(koord_suspect), suspect.kind, suspect.subject, str(suspect.name), suspect.value,
                         suspect.share, suspect.excess, suspect.usage, suspect.request});
    return records;
  }
  static koord_verdict record_of(const Verdict& verdict, const std::vector<koord_suspect>& suspects,
                                 const std::vector<koord_label>& others) {
    koord_verdict record = {};
    record.struct_size = sizeof record;
    record.kind = verdict.kind;
    record.resource = verdict.resource;
    record.method = verdict.method;
    record.victim = verdict.victim;
    record.from_ns = verdict.from_ns;
    record.to_ns = verdict.to_ns;
    record.windows_over = verdict.windows_over;
    record.windows_seen = verdict.windows_seen;
    record.statistic = str(verdict.statistic);
    record.statistic_unit = str(verdict.statistic_unit);
    record.value = verdict.value;
    record.baseline = verdict.baseline;
    record.threshold = verdict.threshold;
    record.amount_unit = str(verdict.amount_unit);
    record.own = verdict.own;
    record.throttled = verdict.throttled;
    record.unexplained = verdict.unexplained;
    record.suspects = suspects.data();
    record.n_suspects = static_cast<std::uint32_t>(suspects.size());
    record.suspect_stride = sizeof(koord_suspect);
    record.others = others.data();
    record.n_others = static_cast<std::uint32_t>(others.size());
    record.other_stride = sizeof(koord_label);
    record.note = str(verdict.note);
    record.ttl_ns = detail::nanoseconds(verdict.ttl, "a verdict's ttl");
    return record;
  }

  const koord_host* host_ = nullptr;
  const koord_svc_verdict* table_ = nullptr;
};

}  // namespace koord::plugin
