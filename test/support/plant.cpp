// SPDX-License-Identifier: Apache-2.0
#include "test/support/plant.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "test/support/plant_tree.hpp"

namespace koord::test {

namespace {

// splitmix64: makes evenly distributed bits from a counter.
std::uint64_t mixed(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

void begin_measuring(PlantGroup& group) {
  group.got_sum = group.want_sum = group.reread_sum = 0;
  group.periods_before = group.measured.nr_periods;
  group.throttled_before = group.measured.nr_throttled;
}

void end_measuring(PlantGroup& group, double seconds) {
  Measured& measured = group.measured;
  measured.cpu_cores = group.got_sum / seconds;
  measured.cpu_wanted = group.want_sum / seconds;
  measured.cpu_seconds += group.got_sum;
  const auto ran = static_cast<double>(measured.nr_periods - group.periods_before);
  const auto throttled = static_cast<double>(measured.nr_throttled - group.throttled_before);
  measured.throttled_ratio = ran > 0 ? throttled / ran : 0;
  measured.backlog = group.backlog;
  measured.anonymous_bytes = group.anonymous;
  measured.hot_bytes = group.hot;
  measured.cold_bytes = group.cold;
  measured.memory_bytes = group.usage();
  measured.reread = group.reread_sum / seconds;
}

}  // namespace

Curve constant(double value) {
  return [value](double) { return value; };
}

Curve step(double low, double high, double from, double to) {
  return [=](double t) { return t >= from && t < to ? high : low; };
}

Curve wave(double low, double high, double period) {
  return [=](double t) {
    const double turn = t / period - std::floor(t / period);
    const double up = turn < 0.5 ? 2 * turn : 2 - 2 * turn;
    return low + (high - low) * up * up * (3 - 2 * up);  // smooth at both ends
  };
}

Curve noisy(Curve course, double by, std::uint64_t seed) {
  return [course = std::move(course), by, seed](double t) {
    const auto tick = static_cast<std::uint64_t>(std::llround(t / kPeriodSeconds));
    const double share = static_cast<double>(mixed(tick ^ mixed(seed)) >> 11) / 9007199254740992.0;
    return std::max(0.0, course(t) + by * (2 * share - 1));
  };
}

void update(Pressure& pressure, double share) {
  pressure.now = 100 * share;
  pressure.avg10 += (pressure.now - pressure.avg10) * kPeriodSeconds / 10;
  pressure.avg60 += (pressure.now - pressure.avg60) * kPeriodSeconds / 60;
  pressure.total_us += share * kPeriodSeconds * 1e6;
}

PlantGroup& PlantTree::at(const std::string& dir) const {
  auto found = by_dir.find(dir);
  if (found == by_dir.end()) throw std::out_of_range("plant: no group '" + dir + "'");
  return *found->second;
}

Plant::Plant(const Machine& machine) : machine_(machine), tree_(std::make_unique<PlantTree>()) {
  if (machine.cpus == 0) throw std::invalid_argument("plant: a machine needs a CPU");
  tree_->by_dir.emplace("", &tree_->root);
}

Plant::~Plant() = default;

void Plant::add(const std::string& dir) {
  if (tree_->by_dir.contains(dir)) return;
  const std::size_t slash = dir.rfind('/');
  const std::string outer = slash == std::string::npos ? "" : dir.substr(0, slash);
  add(outer);
  PlantGroup& parent = tree_->at(outer);
  if (parent.runs) throw std::invalid_argument("plant: '" + outer + "' has processes, so it can have no '" + dir + "'");
  auto group = std::make_unique<PlantGroup>();
  group->dir = dir;
  group->parent = &parent;
  tree_->by_dir.emplace(dir, group.get());
  parent.children.push_back(std::move(group));
  tree_->cpusets_changed = true;
}

void Plant::remove(const std::string& dir) {
  PlantGroup& group = tree_->at(dir);
  if (!group.parent || !group.children.empty())
    throw std::invalid_argument("plant: '" + dir + "' has groups in it or is the root");
  auto& siblings = group.parent->children;
  tree_->by_dir.erase(dir);
  std::erase_if(siblings, [&](const auto& sibling) { return sibling.get() == &group; });
}

void Plant::run(const std::string& dir, Workload workload) {
  PlantGroup& group = tree_->at(dir);
  if (!group.parent || !group.children.empty())
    throw std::invalid_argument("plant: '" + dir + "' has groups in it or is the root, so it can have no processes");
  group.workload = std::move(workload);
  group.runs = true;
}

void Plant::set(const std::string& dir, std::string_view knob, std::string_view value) {
  set_knob(tree_->at(dir), knob, value);
  if (knob == "cpuset.cpus") tree_->cpusets_changed = true;
}

std::string Plant::get(const std::string& dir, std::string_view knob) const { return get_knob(tree_->at(dir), knob); }

void Plant::advance(double seconds) {
  const auto periods = std::max(1LL, std::llround(seconds / kPeriodSeconds));
  from_the_leaves(tree_->root, begin_measuring);
  for (long long n = 0; n < periods; ++n) {
    run_cpus(*tree_, machine_, now());
    run_memory(*tree_, machine_, now());
    ++periods_;
  }
  const double passed = static_cast<double>(periods) * kPeriodSeconds;
  from_the_leaves(tree_->root, [&](PlantGroup& group) { end_measuring(group, passed); });
}

double Plant::now() const {
  return static_cast<double>(periods_) / 10;  // exact for whole seconds
}

const Measured& Plant::of(const std::string& dir) const { return tree_->at(dir).measured; }

double Plant::free_bytes() const { return machine_.memory_bytes - tree_->root.usage(); }

}  // namespace koord::test
