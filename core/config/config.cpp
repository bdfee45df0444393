// SPDX-License-Identifier: Apache-2.0
#include "core/config/config.hpp"

#include "core/config/on_timeout.hpp"

namespace koord::config {

const PluginSettings& PluginsSettings::of(std::string_view id) const {
  const auto named = settings.find(id);
  return named == settings.end() ? defaults : named->second;
}

std::string_view to_string(OnExit what) { return what == OnExit::restore ? "restore" : "keep"; }

std::string_view to_string(EvictionTier tier) { return tier == EvictionTier::api ? "api" : "runtime"; }

OnTimeout default_on_timeout(std::string_view plugin_id) {
  return plugin_id == "hook-gpu" || plugin_id == "hook-rdma" ? OnTimeout::fail : OnTimeout::ignore;
}

std::string_view to_string(OnTimeout policy) { return policy == OnTimeout::ignore ? "ignore" : "fail"; }

std::string_view to_string(Isolation isolation) {
  switch (isolation) {
    case Isolation::automatic:
      return "auto";
    case Isolation::in_process:
      return "inprocess";
    case Isolation::process:
      break;
  }
  return "process";
}

std::string_view to_string(IsolationLayer layer) {
  switch (layer) {
    case IsolationLayer::uid:
      return "uid";
    case IsolationLayer::landlock:
      return "landlock";
    case IsolationLayer::seccomp:
      return "seccomp";
    case IsolationLayer::cgroup:
      break;
  }
  return "cgroup";
}

std::string_view to_string(Detail detail) {
  switch (detail) {
    case Detail::node:
      return "node";
    case Detail::pod:
      return "pod";
    case Detail::container:
      return "container";
    case Detail::all:
      break;
  }
  return "all";
}

std::string_view to_string(StateSource source) {
  switch (source) {
    case StateSource::automatic:
      return "auto";
    case StateSource::kubelet:
      return "kubelet";
    case StateSource::apiserver:
      return "apiserver";
    case StateSource::file:
      return "file";
    case StateSource::cgroup:
      break;
  }
  return "cgroup";
}

std::string_view to_string(Authorization authorization) {
  return authorization == Authorization::kubernetes ? "kubernetes" : "none";
}

std::string_view to_string(Trust trust) {
  switch (trust) {
    case Trust::any:
      return "any";
    case Trust::pinned:
      return "pinned";
    case Trust::signature:
      break;
  }
  return "signed";
}

}  // namespace koord::config
