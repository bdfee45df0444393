// SPDX-License-Identifier: Apache-2.0
// The agent in a pod, through `kubectl exec`: for `koordctl ui --pod`. In the pod `koordctl proxy-stdio` joins
// kubectl's streams to the agent's socket. A kubectl serves one request after the other, several at a time have one
// each.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/ui/source.hpp"

namespace koord::ui {

struct Pod {
  std::string ns, name;
};

// "koordinator-system/koordetector-x7k2p". Fails unless both are names of Kubernetes, which begin with no '-'.
Result<Pod> parse_pod(std::string_view text);

struct PodSourceOptions {
  Pod pod;
  std::string socket, database;     // in the pod
  std::string kubectl = "kubectl";  // looked up in PATH
  std::string context = {};         // of the kubeconfig; empty: its current one
  Duration patience = kAgentPatience;
};

std::unique_ptr<Source> pod_source(PodSourceOptions options);

}  // namespace koord::ui
