// SPDX-License-Identifier: Apache-2.0
// PodsByHand: the cgroups of a node with a service and a best-effort pod, as a kubelet makes them, on this machine's
// kernel and inside of one cgroup of the test; and the files that describe them to an agent. Needs root. Removed with
// the object, when its processes have ended.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "test/support/real_cgroup.hpp"

namespace koord::test {

// Returns the files with another text in `now`, with both texts. Empty: all are as before.
std::string changes(const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& now);

class PodsByHand {
 public:
  explicit PodsByHand(std::string_view name);

  // A directory below `folder` that an agent takes for the root of the cgroup tree.
  std::string root(const std::string& folder) const;
  // pods.yaml and slo.yaml in `folder`; `slo`: a NodeSLO's spec as YAML; resources of the service's and the best-effort
  // container; class and annotations of the service.
  void write_files(const std::string& folder, const std::string& slo, const std::string& service_resources = "{}",
                   const std::string& batch_resources = "{}", const std::string& service_qos = "LS",
                   const std::string& service_annotations = "{}") const;
  void write_slo(const std::string& folder, const std::string& slo) const;

  // Each file of the cgroups that sets something, by path.
  std::map<std::string, std::string> knobs() const;
  // A knob by its v2 name, as v2 spells it; empty: the kernel has none.
  std::string read(const RealCgroup& cgroup, std::string_view knob) const;
  bool knows(std::string_view knob) const { return !read(besteffort, knob).empty(); }
  void set_shares(const RealCgroup& cgroup, unsigned shares) const;
  void limit_cpu(const RealCgroup& cgroup, unsigned quota_us) const;  // of 100 ms
  bool is_v2() const;
  std::size_t cpus() const;

  // The calling process runs there from now on, as a load of all CPUs, and does not return.
  [[noreturn]] void become_load(const RealCgroup& cgroup) const;

  RealCgroup top, kubepods, besteffort, burstable;
  RealCgroup batch_pod, batch;      // the container of the best-effort pod
  RealCgroup service_pod, service;  // that of the service

 private:
  cgroup::Layout layout_;
};

}  // namespace koord::test
