// SPDX-License-Identifier: Apache-2.0
// The agent in a pod, through `kubectl exec`, for `koordctl ui --pod`. In the pod, `koordctl proxy-stdio` connects
// kubectl's streams with the agent's socket. One kubectl serves one request after the other; each concurrent request
// has its own kubectl.
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

// Parses "koordinator-system/koordetector-x7k2p". Fails unless both parts are Kubernetes names, which never begin with
// '-'.
Result<Pod> parse_pod(std::string_view text);

struct PodSourceOptions {
  Pod pod;
  std::string socket, database;     // paths in the pod
  std::string kubectl = "kubectl";  // searched in PATH
  std::string context = {};         // context of the kubeconfig; empty: the current one
  Duration patience = kAgentPatience;
};

std::unique_ptr<Source> pod_source(PodSourceOptions options);

}  // namespace koord::ui
