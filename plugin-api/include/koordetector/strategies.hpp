// SPDX-License-Identifier: Apache-2.0
// Proposals of a QoS strategy, in C++: intents for knobs (koord.knobs/1) and evictions (koord.evict/1).
// Header-only, C++17; plugin.hpp includes it. The contract (threads, units, errors) is in plugin.h; the knobs are in
// KNOBS.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "koordetector/services.hpp"

namespace koord::plugin {

// One intent of a plan: a value, or by its role a part of a value, for a knob of a cgroup. Owns its texts.
struct Intent {
  std::uint32_t level = KOORD_LEVEL_CONTAINER;  // KOORD_LEVEL_*
  std::string knob;                             // "cpu.max"
  std::string cgroup_dir;
  std::string value;   // "20000 100000"; for KOORD_ROLE_SCALE a factor, "1.5"
  std::string reason;  // one sentence for the decision record
  // Values that the decision used: {"node_cpu_usage", "7.3"}.
  std::vector<std::pair<std::string, std::string>> inputs = {};
  std::int32_t priority = 0;            // the highest wins; among equal priorities the strictest value
  std::chrono::nanoseconds ttl{};       // required: withdrawn unless proposed again within this time
  std::uint32_t role = KOORD_ROLE_SET;  // KOORD_ROLE_*; a role other than KOORD_ROLE_SET needs a host of 1.1
};

// A request to evict pods, in this order, until `amount` is released.
struct Eviction {
  std::vector<std::uint64_t> pods;  // handles, in eviction order
  std::string resource;             // "cpu", "memory": a pod releases its usage; "<resource>.request": its request
  std::string reason;
  std::int64_t amount = 0;  // total amount to release: milli-cores or bytes
  std::vector<std::pair<std::string, std::string>> inputs = {};
};

namespace detail {

// Returns records that borrow from `inputs`.
inline std::vector<koord_label> records_of(const std::vector<std::pair<std::string, std::string>>& inputs) {
  std::vector<koord_label> records;
  for (const auto& [key, value] : inputs) records.push_back({str(key), str(value)});
  return records;
}

}  // namespace detail

class Knobs {
 public:
  Knobs() = default;
  explicit Knobs(const koord_host* host) : host_(host), knobs_(require<koord_svc_knobs>(host, "koord.knobs/1")) {}

  // Proposes intents. All intents of one evaluate() are one plan, which replaces the previous plan. [in-call: evaluate]
  void propose(const std::vector<Intent>& intents) const {
    std::vector<std::vector<koord_label>> inputs;
    std::vector<koord_intent> records;
    for (const Intent& intent : intents) {
      inputs.push_back(detail::records_of(intent.inputs));
      koord_intent record = {};
      record.struct_size = sizeof record;
      record.level = intent.level;
      record.knob = str(intent.knob);
      record.cgroup_dir = str(intent.cgroup_dir);
      record.value = str(intent.value);
      record.reason = str(intent.reason);
      record.inputs = inputs.back().data();
      record.n_inputs = static_cast<std::uint32_t>(inputs.back().size());
      record.input_stride = sizeof(koord_label);
      record.priority = intent.priority;
      record.ttl_ns = detail::nanoseconds(intent.ttl, "an intent's ttl");
      record.role = intent.role;
      records.push_back(record);
    }
    check(knobs_->propose(host_, records.data(), static_cast<std::uint32_t>(records.size()), sizeof(koord_intent)),
          "proposing a plan");
  }

  // Returns the value that the host uses if there is no intent; never a value that the host wrote. Throws Failure
  // KOORD_E_UNSUPPORTED on a host of 1.0, too. [any]
  std::string base(std::string_view knob, std::string_view cgroup_dir) const {
    if (!KOORD_HAS(knobs_, base)) throw Failure(KOORD_E_UNSUPPORTED, "this host is older than 1.1 and has no base()");
    return text_of([&](char* buf, std::uint64_t cap, std::uint64_t* need) {
      return knobs_->base(host_, str(knob), str(cgroup_dir), buf, cap, need);
    });
  }
  // Returns the current value of the knob, which the host may have written. [any]
  std::string current(std::string_view knob, std::string_view cgroup_dir) const {
    return text_of([&](char* buf, std::uint64_t cap, std::uint64_t* need) {
      return knobs_->current(host_, str(knob), str(cgroup_dir), buf, cap, need);
    });
  }

 private:
  const koord_host* host_ = nullptr;
  const koord_svc_knobs* knobs_ = nullptr;
};

class Evict {
 public:
  Evict() = default;
  explicit Evict(const koord_host* host) : host_(host), evict_(require<koord_svc_evict>(host, "koord.evict/1")) {}

  // Requests an eviction. [in-call: evaluate]
  void request(const Eviction& eviction) const {
    const std::vector<koord_label> inputs = detail::records_of(eviction.inputs);
    koord_eviction record = {};
    record.struct_size = sizeof record;
    record.n_pods = static_cast<std::uint32_t>(eviction.pods.size());
    record.pods = eviction.pods.data();
    record.resource = str(eviction.resource);
    record.reason = str(eviction.reason);
    record.amount = eviction.amount;
    record.inputs = inputs.data();
    record.n_inputs = static_cast<std::uint32_t>(inputs.size());
    record.input_stride = sizeof(koord_label);
    check(evict_->request(host_, &record), "requesting evictions");
  }

 private:
  const koord_host* host_ = nullptr;
  const koord_svc_evict* evict_ = nullptr;
};

}  // namespace koord::plugin
