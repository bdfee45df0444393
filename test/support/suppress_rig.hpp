// SPDX-License-Identifier: Apache-2.0
// SuppressRig: runs qos-cpu-suppress' plan() with this machine's CPU usage. The host's Governor writes the intents to
// this machine's kernel; no agent runs. Header-only. [one thread]
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/knob/governor.hpp"
#include "plugins/qos-cpu-suppress/cpu_suppress.hpp"
#include "test/support/made_intent.hpp"
#include "test/support/pods_by_hand.hpp"

namespace koord::test {

class SuppressRig {
 public:
  SuppressRig(const PodsByHand& pods, cpu_suppress::Policy policy, std::int64_t threshold_percent)
      : pods_(pods), governor_(clock_, *cgroup::Layout::detect(NodeRoots()), NodeRoots(), originals_) {
    inputs_.policy = policy;
    inputs_.threshold_percent = threshold_percent;
    inputs_.capacity_milli = static_cast<std::int64_t>(pods.cpus()) * 1000;
    for (std::uint32_t cpu = 0; cpu < pods.cpus(); ++cpu) inputs_.pools.online.push_back({cpu, cpu, 0, 0});
    inputs_.targets = {{pods.besteffort.dir()}, {}, {pods.batch.dir()}, pods.is_v2()};
    governor_.set_node_mode(koord::Mode::enforce);
    before_ = used();
  }
  ~SuppressRig() { governor_.stop(); }
  SuppressRig(const SuppressRig&) = delete;
  SuppressRig& operator=(const SuppressRig&) = delete;

  // Makes one evaluate() call with the usage since the last call.
  cpu_suppress::Round round() {
    const Used now = used();
    const double seconds = now.at - before_.at;
    inputs_.now_ns = static_cast<std::uint64_t>(now.at * 1e9);
    inputs_.use = usage::split(
        {.node = (now.node - before_.node) / seconds,
         .pods = {{(now.service - before_.service) / seconds, false}, {(now.batch - before_.batch) / seconds, true}}});
    before_ = now;
    const cpu_suppress::Round round = plan(inputs_, {}, memory_);
    take(round.intents);
    return round;
  }
  // Removes all intents, like a NodeSLO that disables the strategy.
  void off() { take({}); }

  std::vector<decision::Decision> decisions() const { return governor_.decisions(); }
  void set_mode(koord::Mode mode) { governor_.set_node_mode(mode); }

 private:
  struct Used {
    double at, node, service, batch;  // seconds; of CPU time
  };

  void take(const strategy::Intents& intents) {
    knob::Plan plan;
    for (const strategy::Intent& intent : intents) {
      knob::Intent& made =
          plan.emplace_back(made_intent(intent.knob, intent.value, static_cast<decision::Role>(intent.role)));
      made.level = static_cast<decision::Level>(intent.level);
      made.cgroup_dir = intent.cgroup_dir;
      made.reason = intent.reason;
      made.inputs = intent.inputs;
      made.priority = intent.priority;
      made.ttl = std::chrono::seconds(15);
    }
    governor_.take({"qos-cpu-suppress", "cpu-suppress", 1}, std::move(plan), [](auto) {});
  }

  double used_by(const RealCgroup& cgroup) const {
    const std::string dir = cgroup.path(cgroup::Controller::cpuacct);
    if (!pods_.is_v2())
      return static_cast<double>(parse_int(trim(read_file(dir + "/cpuacct.usage").value())).value()) / 1e9;
    return static_cast<double>(find_flat_key(read_file(dir + "/cpu.stat").value(), "usage_usec").value_or(0)) / 1e6;
  }

  // Adds the columns of the line "cpu" except the fourth and fifth, idle and iowait.
  static double used_by_node() {
    const std::string stat = read_file("/proc/stat").value();
    std::string_view line = std::string_view(stat).substr(0, stat.find('\n'));
    next_word(line);
    double ticks = 0;
    for (int i = 0; i < 7; ++i) {
      const auto figure = static_cast<double>(parse_int(next_word(line).value_or("0")).value_or(0));
      if (i != 3 && i != 4) ticks += figure;
    }
    return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }

  Used used() const {
    return {std::chrono::duration<double>(clock_.now().time_since_epoch()).count(), used_by_node(),
            used_by(pods_.service), used_by(pods_.batch)};
  }

  const PodsByHand& pods_;
  SystemClock clock_;
  knob::MemoryOriginals originals_;
  knob::Governor governor_;
  cpu_suppress::Inputs inputs_;
  cpu_suppress::Memory memory_;
  Used before_{};
};

}  // namespace koord::test
