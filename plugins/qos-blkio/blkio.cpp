// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-blkio/blkio.hpp"

#include <algorithm>
#include <map>

#include "koordetector/plugin.h"

namespace koord::blkio {
namespace {

using slo::IoConfig;
using slo::Number;
using strategy::Intent;

// The object that intents are for, and their origin for reasons.
struct Target {
  std::uint32_t level;
  std::string cgroup_dir;
  std::string origin;   // "beClass of the NodeSLO"
  std::string subject;  // "best-effort pods together"
  std::string pod_uid = {};
};

// Merges the entries about one device. The strictest value of each limit counts.
struct DeviceConfig {
  std::string titles;
  IoConfig io;
};

bool is_limit(const Number& number) { return number.value_or(0) > 0; }

void tighten(Number& limit, const Number& other) {
  if (is_limit(other) && (!is_limit(limit) || *other < *limit)) limit = other;
}

void merge(const IoConfig& from, IoConfig& into) {
  tighten(into.read_iops, from.read_iops);
  tighten(into.write_iops, from.write_iops);
  tighten(into.read_bps, from.read_bps);
  tighten(into.write_bps, from.write_bps);
  tighten(into.weight_percent, from.weight_percent);
}

using DeviceConfigs = std::map<std::string, DeviceConfig>;  // key: device number

// Returns the configuration by device. A block without a device is reported; other blocks are used.
DeviceConfigs devices_of(const std::vector<slo::Block>& blocks, const Target& target, const Known& known,
                         slo::Problems& problems) {
  DeviceConfigs devices;
  for (const slo::Block& block : blocks) {
    const Result<std::string> number = number_of(block, target.pod_uid, known);
    if (!number) {
      problems.push_back(target.origin + ": " + title_of(block) + ": " + number.error().text);
      continue;
    }
    auto [device, is_new] = devices.try_emplace(*number, DeviceConfig{title_of(block), block.io});
    if (is_new) continue;
    device->second.titles += ", " + title_of(block);
    merge(block.io, device->second.io);
    problems.push_back(target.origin + ": " + device->second.titles + " are all on " + *number +
                       ", the strictest of each limit holds");
  }
  return devices;
}

class Proposing {
 public:
  Proposing(const Inputs& inputs, Plan& plan) : inputs_(inputs), plan_(plan) {}

  // Adds io.max and io.weight of a cgroup.
  void limit(const std::vector<slo::Block>& blocks, const Target& target) {
    for (const auto& [number, device] : devices_of(blocks, target, *inputs_.known, plan_.problems)) {
      limit_rates(number, device, target);
      const Number& weight = device.io.weight_percent;
      if (weight)
        add(target, "io.weight", number + " " + std::to_string(*weight), number, device,
            {{"ioWeightPercent", std::to_string(*weight)}});
    }
  }

  // Adds io.cost.qos and io.cost.model of the node's devices.
  void control_cost(const std::vector<slo::Block>& blocks, const Target& target) {
    for (const auto& [number, device] : devices_of(blocks, target, *inputs_.known, plan_.problems)) {
      keep_latency(number, device, target);
      if (device.io.enable_user_model.value_or(false)) propose_model(number, device, target);
    }
  }

 private:
  struct Field {
    const char* name;     // name in the kernel's line
    const char* setting;  // name in the NodeSLO
    Number value;
  };

  void add(const Target& target, std::string knob, std::string value, const std::string& number,
           const DeviceConfig& device, strategy::Inputs more, std::uint32_t role = KOORD_ROLE_SET) {
    if (inputs_.missing_knobs.contains(knob)) return;
    Intent intent{target.level,
                  std::move(knob),
                  target.cgroup_dir,
                  std::move(value),
                  target.origin + " sets this for " + target.subject + " on " + device.titles,
                  {{"device", number}}};
    intent.role = role;
    intent.inputs.insert(intent.inputs.end(), more.begin(), more.end());
    plan_.intents.push_back(std::move(intent));
  }

  void limit_rates(const std::string& number, const DeviceConfig& device, const Target& target) {
    const Field fields[] = {{"rbps", "readBPS", device.io.read_bps},
                            {"wbps", "writeBPS", device.io.write_bps},
                            {"riops", "readIOPS", device.io.read_iops},
                            {"wiops", "writeIOPS", device.io.write_iops}};
    std::string value = number;
    strategy::Inputs settings;
    for (const Field& field : fields) {
      value += " " + std::string(field.name) + "=" + (is_limit(field.value) ? std::to_string(*field.value) : "max");
      if (is_limit(field.value)) settings.emplace_back(field.setting, std::to_string(*field.value));
    }
    if (!settings.empty()) add(target, "io.max", value, number, device, std::move(settings), KOORD_ROLE_CAP);
  }

  void keep_latency(const std::string& number, const DeviceConfig& device, const Target& target) {
    const Field fields[] = {{"rpct", "readLatencyPercent", device.io.read_latency_percent.value_or(95)},
                            {"rlat", "readLatency", device.io.read_latency_us.value_or(3000)},
                            {"wpct", "writeLatencyPercent", device.io.write_latency_percent.value_or(95)},
                            {"wlat", "writeLatency", device.io.write_latency_us.value_or(3000)}};
    std::string value = number + " enable=1 ctrl=user";
    strategy::Inputs settings;
    for (const Field& field : fields) {
      value += " " + std::string(field.name) + "=" + std::to_string(*field.value);
      settings.emplace_back(field.setting, std::to_string(*field.value));
    }
    add(target, "io.cost.qos", value, number, device, std::move(settings));
  }

  void propose_model(const std::string& number, const DeviceConfig& device, const Target& target) {
    const Field fields[] = {{"rbps", "modelReadBPS", device.io.model_read_bps},
                            {"rseqiops", "modelReadSeqIOPS", device.io.model_read_sequential_iops},
                            {"rrandiops", "modelReadRandIOPS", device.io.model_read_random_iops},
                            {"wbps", "modelWriteBPS", device.io.model_write_bps},
                            {"wseqiops", "modelWriteSeqIOPS", device.io.model_write_sequential_iops},
                            {"wrandiops", "modelWriteRandIOPS", device.io.model_write_random_iops}};
    std::string value = number + " ctrl=user";
    strategy::Inputs settings;
    for (const Field& field : fields) {
      if (!is_limit(field.value)) {
        plan_.problems.push_back(target.origin + ": " + device.titles + ": enableUserModel needs " + field.setting +
                                 "; the kernel's model stays");
        return;
      }
      value += " " + std::string(field.name) + "=" + std::to_string(*field.value);
      settings.emplace_back(field.setting, std::to_string(*field.value));
    }
    add(target, "io.cost.model", value, number, device, std::move(settings));
  }

  const Inputs& inputs_;
  Plan& plan_;
};

// Returns null if the section is missing, off, or has no devices.
const std::vector<slo::Block>* blocks_of(const std::optional<slo::ClassQos>& section) {
  const bool on =
      section && section->blkio && section->blkio->enable.value_or(false) && !section->blkio->blocks.empty();
  return on ? &section->blkio->blocks : nullptr;
}

void propose_for_classes(const slo::ResourceQos& strategy, const Inputs& inputs, Proposing& proposing,
                         slo::Problems& problems) {
  if (const auto* blocks = blocks_of(strategy.root))
    proposing.control_cost(*blocks, {KOORD_LEVEL_NODE, "", "cgroupRoot of the NodeSLO", "the whole node"});
  if (const auto* blocks = blocks_of(strategy.be))
    for (const std::string& dir : inputs.best_effort_dirs)
      proposing.limit(*blocks, {KOORD_LEVEL_QOS, dir, "beClass of the NodeSLO", "best-effort pods together"});
  if (const auto* blocks = blocks_of(strategy.ls))
    for (const std::string& dir : inputs.burstable_dirs)
      proposing.limit(*blocks, {KOORD_LEVEL_QOS, dir, "lsClass of the NodeSLO", "burstable pods together"});
  for (const auto& [name, section] : {std::pair("lsrClass", &strategy.lsr), std::pair("systemClass", &strategy.system)})
    if (blocks_of(*section))
      problems.push_back(std::string(name) +
                         " of the NodeSLO: its pods have no cgroup together, so its blkioQOS does nothing");
}

}  // namespace

Plan plan(const Inputs& inputs) {
  Plan plan;
  Proposing proposing(inputs, plan);
  if (inputs.strategy) propose_for_classes(*inputs.strategy, inputs, proposing, plan.problems);
  for (const LimitedPod& pod : inputs.pods)
    proposing.limit(pod.blocks,
                    {KOORD_LEVEL_POD, pod.cgroup_dir, "the annotation of pod " + pod.name, "that pod", pod.uid});
  return plan;
}

}  // namespace koord::blkio
