// SPDX-License-Identifier: Apache-2.0
// Messages as a runtime sends them, made with the field numbers of NRI v1alpha1. They are not recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/hook/nri/protobuf.hpp"

namespace koord::test {

using Fill = std::function<void(nri::Writer&)>;

inline std::string message_of(const Fill& fill) {
  nri::Writer out;
  fill(out);
  return std::move(out).finish();
}

inline std::string configure_request(const std::string& name, const std::string& version,
                                     const std::string& nri_version = {}) {
  return message_of([&](nri::Writer& out) {
    out.text(2, name);
    out.text(3, version);
    out.number(4, 5000);
    out.number(5, 2000);
    out.text(6, nri_version);
  });
}

inline Fill pod_named(const std::string& id) {
  return [id](nri::Writer& pod) {
    pod.text(1, id);
    pod.text(2, "name-of-" + id);
  };
}

inline Fill container_of(const std::string& id, const std::string& pod_id) {
  return [id, pod_id](nri::Writer& container) {
    container.text(1, id);
    container.text(2, pod_id);
  };
}

inline std::string synchronize_request(const std::vector<Fill>& pods, const std::vector<Fill>& containers,
                                       bool more = false) {
  return message_of([&](nri::Writer& out) {
    for (const Fill& pod : pods) out.message(1, pod);
    for (const Fill& container : containers) out.message(2, container);
    out.boolean(3, more);
  });
}

// Returns the request of an event that has its own method.
inline std::string event_request(const Fill& pod, const Fill& container = nullptr, const Fill& resources = nullptr) {
  return message_of([&](nri::Writer& out) {
    out.message(1, pod);
    if (container) out.message(2, container);
    if (resources) out.message(3, resources);
  });
}

inline std::string state_change(std::uint32_t event, const Fill& pod, const Fill& container = nullptr) {
  return message_of([&](nri::Writer& out) {
    out.number(1, event);
    out.message(2, pod);
    if (container) out.message(3, container);
  });
}

}  // namespace koord::test
