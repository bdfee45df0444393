// SPDX-License-Identifier: Apache-2.0
// HookDispatcher: takes a request to every running hook that names its stage, all at once, each with its own deadline,
// and puts what they answer together. The order of the hooks is that of their plugins' ids, then of their classes'
// names: of two that set one field to different values the first keeps it. A hook that gives no answer, late or failed,
// is left out, or the request is rejected in its name when its plugin's onTimeout says fail. The answers of hooks in
// shadow are put apart: they set, reject and delay nothing else. [any thread]
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/host/hook_call.hpp"

namespace koord::metric {
class HostMetrics;
}

namespace koord::host {

class HookStatistics;
class Instance;

// A hook that runs.
struct HookTarget {
  std::string plugin, name;  // of the plugin and of its class
  std::shared_ptr<Instance> instance;
  std::uint32_t stages = 0;
  Duration deadline{};
  bool must_answer = false;  // onTimeout: fail
  bool in_shadow = false;    // its answer is recorded only
};

struct HookVerdict {
  struct Setting {
    std::string field, value, plugin;
  };
  struct Scale {
    std::string field;
    double factor;
    std::string plugin;
  };
  // Another plugin's value that was not taken.
  struct Conflict {
    std::string field, value, plugin, kept_by;
  };
  // A hook without an answer.
  struct Silence {
    std::string plugin, why;
    bool timed_out = false;
  };
  struct Rejection {
    std::string plugin, why;
  };
  std::optional<Rejection> rejection;  // then nothing is set
  std::vector<Setting> settings;       // each field once
  std::vector<Scale> scales;           // those of one field multiply
  std::vector<Setting> in_shadow;      // by hooks in shadow; a factor is "× 0.8"
  std::vector<Conflict> conflicts;
  std::vector<Setting> agreed;  // by further plugins, with the value that is set
  std::vector<Silence> silent;
  std::uint32_t stage = 0;  // KOORD_STAGE_*
};

class HookDispatcher {
 public:
  struct Parts {
    // Those that run and name this stage, in order (PluginManager::hooks).
    std::function<std::vector<HookTarget>(std::uint32_t stage)> hooks;
    const Clock& clock;  // these two outlive it
    metric::HostMetrics& metrics;
    HookStatistics* statistics = nullptr;  // outlives it, too; null: no statistics are kept
  };
  explicit HookDispatcher(Parts parts) : parts_(std::move(parts)) {}

  // Returns by the longest deadline of the hooks.
  HookVerdict dispatch(HookRequest request);
  // Asks one hook, and returns by its deadline.
  HookReply ask(const HookTarget& hook, std::shared_ptr<const HookSubject> subject);

 private:
  std::shared_ptr<HookCall> begin(const HookTarget& hook, std::shared_ptr<const HookSubject> subject) const;
  HookReply await(const HookTarget& hook, std::uint32_t stage, HookCall& call);
  void take(const HookTarget& hook, HookReply reply, HookVerdict& verdict);
  void take_shadow(const HookTarget& hook, HookSettings settings, HookVerdict& verdict);
  void take_settings(const HookTarget& hook, HookSettings settings, HookVerdict& verdict);
  void count(const HookTarget& hook, const char* result);

  const Parts parts_;
};

}  // namespace koord::host
