// SPDX-License-Identifier: Apache-2.0
// PodsByHand: the cgroups of a node with a service pod and a best-effort pod, as a kubelet makes them, in this
// machine's kernel below one cgroup of the test, and the files that describe the pods to an agent. Needs root. The
// cgroups are removed with the object, after their processes have ended.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "test/support/real_cgroup.hpp"

namespace koord::test {

// Returns the files with a different text in `now`, with both texts. Empty: nothing changed.
std::string changes(const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& now);

class PodsByHand {
 public:
  explicit PodsByHand(std::string_view name);

  // Returns a directory below `folder` that an agent can use as the root of the cgroup tree.
  std::string root(const std::string& folder) const;
  // Writes pods.yaml and slo.yaml into `folder`. `slo`: a NodeSLO's spec as YAML; then the resources of the service
  // container and of the best-effort container, and the QoS class and annotations of the service pod.
  void write_files(const std::string& folder, const std::string& slo, const std::string& service_resources = "{}",
                   const std::string& batch_resources = "{}", const std::string& service_qos = "LS",
                   const std::string& service_annotations = "{}") const;
  void write_slo(const std::string& folder, const std::string& slo) const;

  // Returns each settable file of the cgroups by path.
  std::map<std::string, std::string> knobs() const;
  // Returns a knob, named and written as in v2; empty if the kernel lacks it.
  std::string read(const RealCgroup& cgroup, std::string_view knob) const;
  bool knows(std::string_view knob) const { return !read(besteffort, knob).empty(); }
  void set_shares(const RealCgroup& cgroup, unsigned shares) const;
  void limit_cpu(const RealCgroup& cgroup, unsigned quota_us) const;  // quota per 100 ms
  bool is_v2() const;
  std::size_t cpus() const;

  // Moves the calling process into the cgroup, where it loads all CPUs. Does not return.
  [[noreturn]] void become_load(const RealCgroup& cgroup) const;

  RealCgroup top, kubepods, besteffort, burstable;
  RealCgroup batch_pod, batch;      // the container of the best-effort pod
  RealCgroup service_pod, service;  // the container of the service

 private:
  cgroup::Layout layout_;
};

}  // namespace koord::test
