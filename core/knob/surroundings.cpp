// SPDX-License-Identifier: Apache-2.0
#include "core/knob/surroundings.hpp"

#include <utility>

namespace koord::knob {
namespace {

class SurroundingsReader {
 public:
  SurroundingsReader(const KnobFiles& files, std::span<Step* const> steps) : files_(files) {
    for (const Step* step : steps) changed_.emplace(step->key.cgroup_dir, step->key.resource);
  }

  // Returns nullptr if a step changes the value, or if it cannot be read.
  const Value* at(const std::string& cgroup_dir, const Knob& knob) {
    const std::pair<std::string, std::string> key(cgroup_dir, knob.resource);
    if (changed_.contains(key)) return nullptr;
    if (auto known = around.values.find(key); known != around.values.end()) return &known->second.second;
    if (!missing_.insert(key).second) return nullptr;
    Result<KnobFiles::Reading> reading = files_.read({knob, cgroup_dir});
    if (!reading) return nullptr;
    missing_.erase(key);
    return &around.values.emplace(key, std::pair(&knob, std::move(reading->value))).first->second.second;
  }

  void above(std::string cgroup_dir, const Knob& knob) {
    while (!cgroup_dir.empty()) {
      const std::size_t slash = cgroup_dir.rfind('/');
      cgroup_dir.resize(slash == std::string::npos ? 0 : slash);
      at(cgroup_dir, knob);
    }
  }

  // Reads the cgroups inside, down to the cgroups with a limit that is not changed, because the cgroups inside of these
  // have no more.
  void below(const std::string& cgroup_dir, const Knob& knob) {
    for (const std::string& inner : files_.inner_cgroups(knob, cgroup_dir)) {
      const Value* value = at(inner, knob);
      const bool goes_on = knob.form == Form::bandwidth && (!value || value->amount == kUnlimited);
      if (goes_on) below(inner, knob);
    }
  }

  Surroundings around;

 private:
  const KnobFiles& files_;
  std::set<std::pair<std::string, std::string>> changed_, missing_;
};

bool narrows(const Step& step) {
  if (step.knob->form == Form::set) return !step.target.set.includes(step.now.value.set);
  return share_of(step.target) < share_of(step.now.value);
}

}  // namespace

Surroundings read_surroundings(const KnobFiles& files, std::span<Step* const> steps,
                               const std::set<std::string>& pinned) {
  SurroundingsReader reader(files, steps);
  reader.around.pinned = pinned;
  reader.around.nested_quotas = files.is_nested(*find_knob("cpu.max"));
  reader.around.nested_sets = files.is_nested(*find_knob("cpuset.cpus"));
  bool any_cpus = false;
  for (const Step* each : steps) {
    const Step& step = *each;
    if (files.is_nested(*step.knob)) {
      reader.above(step.key.cgroup_dir, *step.knob);
      // For sets, even if the step widens, because the planner checks whether a cgroup is inside.
      if (narrows(step) || step.knob->form == Form::set) reader.below(step.key.cgroup_dir, *step.knob);
    }
    any_cpus |= step.key.resource == "cpuset.cpus";
    if (step.key.resource == "cpu.max") reader.at(step.key.cgroup_dir, *find_knob("cpu.max.burst"));
    if (step.key.resource == "cpu.max" && pinned.contains(step.key.cgroup_dir))
      reader.at(step.key.cgroup_dir, *find_knob("cpuset.cpus"));
    if (step.key.resource == "cpu.max.burst") reader.at(step.key.cgroup_dir, *find_knob("cpu.max"));
    if (step.key.resource == "cpu.weight") reader.at(step.key.cgroup_dir, *find_knob("cpu.idle"));
  }
  if (any_cpus) reader.around.online = files.online_cpus();
  return reader.around;
}

}  // namespace koord::knob
