// SPDX-License-Identifier: Apache-2.0
#include "test/support/pods_by_hand.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "core/base/cpu_set.hpp"
#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::test {
namespace {

namespace fs = std::filesystem;
using cgroup::Controller;
using cgroup::Version;

constexpr std::string_view kBatchId = "b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0";
constexpr std::string_view kServiceId = "5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e";
constexpr std::string_view kControllers[] = {"cpu", "cpuacct", "cpuset", "memory", "blkio"};

// Returns whether the file only has counters or lists of processes.
bool is_counter(const std::string& file) {
  for (std::string_view part :
       {"cgroup.procs", "cgroup.threads", "tasks", "cpuacct.", "failcnt", "max_usage", ".peak", ".pressure", "event"})
    if (file.find(part) != std::string::npos) return true;
  return false;
}

std::string pod_yaml(const char* uid, const std::string& qos, const char* kube_qos, std::string_view id,
                     const std::string& resources, const std::string& annotations = "{}") {
  return std::string("- metadata: {uid: ") + uid + ", name: " + uid +
         ", namespace: default, labels: {koordinator.sh/qosClass: " + qos + "}, annotations: " + annotations +
         "}\n  spec: {containers: [{name: main, resources: " + resources +
         "}]}\n  status:\n    phase: Running\n    qosClass: " + kube_qos +
         "\n    containerStatuses: [{name: main, containerID: \"containerd://" + std::string(id) +
         "\", state: {running: {}}}]\n";
}

void write_or_throw(const std::string& path, const std::string& text) {
  if (auto written = write_file_atomically(path, text); !written) throw std::runtime_error(written.error().message());
}

cgroup::Layout detect() {
  Result<cgroup::Layout> layout = cgroup::Layout::detect(NodeRoots());
  if (!layout) throw std::runtime_error(layout.error().message());
  return *std::move(layout);
}

}  // namespace

PodsByHand::PodsByHand(std::string_view name)
    : top(name),
      kubepods(top, "kubepods"),
      besteffort(kubepods, "besteffort"),
      burstable(kubepods, "burstable"),
      batch_pod(besteffort, "podbatch"),
      batch(batch_pod, kBatchId),
      service_pod(burstable, "podservice"),
      service(service_pod, kServiceId),
      layout_(detect()) {}

bool PodsByHand::is_v2() const { return layout_.version(Controller::cpu) == Version::v2; }

std::string PodsByHand::root(const std::string& folder) const {
  if (is_v2()) return layout_.directory(Controller::cpu, top.dir());
  const std::string root = folder + "/cgroup";
  fs::create_directory(root);
  for (std::string_view controller : kControllers) {
    const std::string tree = NodeRoots().cgroup + "/" + std::string(controller) + "/" + top.dir();
    if (fs::exists(tree)) fs::create_directory_symlink(tree, root + "/" + std::string(controller));
  }
  return root;
}

void PodsByHand::write_files(const std::string& folder, const std::string& slo, const std::string& service_resources,
                             const std::string& batch_resources, const std::string& service_qos,
                             const std::string& service_annotations) const {
  write_or_throw(folder + "/pods.yaml",
                 "kind: PodList\nitems:\n" + pod_yaml("batch", "BE", "BestEffort", kBatchId, batch_resources) +
                     pod_yaml("service", service_qos, "Burstable", kServiceId, service_resources, service_annotations));
  write_slo(folder, slo);
}

void PodsByHand::write_slo(const std::string& folder, const std::string& slo) const {
  write_or_throw(folder + "/slo.yaml", "kind: NodeSLO\nmetadata: {name: n}\nspec: " + slo + "\n");
}

std::map<std::string, std::string> PodsByHand::knobs() const {
  std::map<std::string, std::string> knobs;
  for (Controller controller : {Controller::cpu, Controller::cpuset, Controller::memory, Controller::blkio}) {
    const std::string directory = layout_.directory(controller, top.dir());
    if (directory.empty() || !fs::exists(directory)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
      const bool may_be_written = (entry.status().permissions() & fs::perms::owner_write) != fs::perms::none;
      if (!entry.is_regular_file() || !may_be_written || is_counter(entry.path().filename())) continue;
      if (Result<std::string> text = read_file(entry.path())) knobs[entry.path()] = *text;
    }
  }
  return knobs;
}

std::string changes(const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& now) {
  std::string all;
  for (const auto& [file, text] : before)
    if (const auto found = now.find(file); found == now.end() || found->second != text)
      all += file + ": '" + text + "' is now '" + (found == now.end() ? "missing" : found->second) + "'\n";
  for (const auto& [file, text] : now)
    if (!before.contains(file)) all += file + ": new, '" + text + "'\n";
  return all;
}

std::string PodsByHand::read(const RealCgroup& cgroup, std::string_view knob) const {
  const auto controller = knob.starts_with("cpuset") ? Controller::cpuset : Controller::cpu;
  const auto text = [&](std::string_view file) {
    return std::string(trim(read_file(cgroup.path(controller) + "/" + std::string(file)).value_or("")));
  };
  if (knob != "cpu.max" || is_v2()) return text(knob);
  const std::string quota = text("cpu.cfs_quota_us");
  return (quota == "-1" ? "max" : quota) + " " + text("cpu.cfs_period_us");
}

void PodsByHand::set_shares(const RealCgroup& cgroup, unsigned shares) const {
  const std::string weight = std::to_string(1 + (shares - 2) * 9999 / 262142);
  const std::string file = cgroup.path(Controller::cpu) + (is_v2() ? "/cpu.weight" : "/cpu.shares");
  const auto written = write_value(file, is_v2() ? weight : std::to_string(shares));
  if (!written) throw std::runtime_error(written.error().message());
}

void PodsByHand::limit_cpu(const RealCgroup& cgroup, unsigned quota_us) const {
  const std::string file = cgroup.path(Controller::cpu) + (is_v2() ? "/cpu.max" : "/cpu.cfs_quota_us");
  if (const auto written = write_value(file, std::to_string(quota_us)); !written)
    throw std::runtime_error(written.error().message());
}

std::size_t PodsByHand::cpus() const { return std::thread::hardware_concurrency(); }

void PodsByHand::become_load(const RealCgroup& cgroup) const {
  cgroup.add_process(::getpid());
  const std::string workers = std::to_string(2 * cpus());
  ::execl(KOORD_STRESS_NG, "stress-ng", "--cpu", workers.c_str(), "--quiet", nullptr);
  ::_exit(1);
}

}  // namespace koord::test
