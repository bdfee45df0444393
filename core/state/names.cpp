// SPDX-License-Identifier: Apache-2.0
#include "core/state/pod.hpp"

namespace koord::state {

std::string_view name_of(KubeQos qos) {
  switch (qos) {
    case KubeQos::unknown:
      return "";
    case KubeQos::guaranteed:
      return "Guaranteed";
    case KubeQos::burstable:
      return "Burstable";
    case KubeQos::best_effort:
      return "BestEffort";
  }
  return "";
}

std::string_view name_of(KoordQos qos) {
  switch (qos) {
    case KoordQos::none:
      return "";
    case KoordQos::lse:
      return "LSE";
    case KoordQos::lsr:
      return "LSR";
    case KoordQos::ls:
      return "LS";
    case KoordQos::be:
      return "BE";
    case KoordQos::system:
      return "SYSTEM";
  }
  return "";
}

std::string_view name_of(PriorityClass klass) {
  switch (klass) {
    case PriorityClass::none:
      return "";
    case PriorityClass::prod:
      return "koord-prod";
    case PriorityClass::mid:
      return "koord-mid";
    case PriorityClass::batch:
      return "koord-batch";
    case PriorityClass::free:
      return "koord-free";
  }
  return "";
}

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::unknown:
      return "Unknown";
    case Phase::pending:
      return "Pending";
    case Phase::running:
      return "Running";
    case Phase::succeeded:
      return "Succeeded";
    case Phase::failed:
      return "Failed";
  }
  return "";
}

std::string_view name_of(ContainerKind kind) {
  switch (kind) {
    case ContainerKind::regular:
      return "regular";
    case ContainerKind::init:
      return "init";
    case ContainerKind::sidecar:
      return "sidecar";
    case ContainerKind::ephemeral:
      return "ephemeral";
    case ContainerKind::sandbox:
      return "sandbox";
    case ContainerKind::service:
      return "service";
    case ContainerKind::cgroup:
      return "cgroup";
  }
  return "";
}

std::string_view name_of(ContainerState state) {
  switch (state) {
    case ContainerState::unknown:
      return "unknown";
    case ContainerState::waiting:
      return "waiting";
    case ContainerState::running:
      return "running";
    case ContainerState::terminated:
      return "terminated";
  }
  return "";
}

std::string full_name(const Pod& pod) { return pod.namespace_ + '/' + pod.name; }

}  // namespace koord::state
