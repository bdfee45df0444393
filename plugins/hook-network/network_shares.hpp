// SPDX-License-Identifier: Apache-2.0
// Computes the network traffic classes of a node: the class of a pod's packets, and the limits of each class. Pure
// functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace koord::hook_network {

inline constexpr std::string_view kAnnotation = "koordinator.sh/networkQOS";
// The major number of the knob tc.classes; net_cls.classid is major × 65536 + minor.
inline constexpr std::uint32_t kMajor = 0x6b6f;
inline constexpr std::uint32_t kLs = 3, kBe = 4, kFirstPod = 256;  // minor numbers; 1: the parent, 2: the default class
inline constexpr std::size_t kMostPods = 4000;                     // pods with their own limits

// Bytes per second; 0: not set.
struct Share {
  bool is_on = false;
  std::int64_t request = 0, limit = 0;

  bool operator==(const Share&) const = default;
};

struct Network {
  std::int64_t total = 0;  // bytes per second; 0: unknown, or the policy is not tc
  Share ls, be;
  std::vector<std::string> problems;  // ignored fields, with the reason

  bool shares() const { return total > 0 && (ls.is_on || be.is_on); }
};

// Reads a NodeSLO; an empty NodeSLO gives no class a share.
Result<Network> parse_network(std::string_view node_slo);

struct PodFacts {
  std::string_view uid, name, label;           // "shop/web", koordinator.sh/qosClass
  std::optional<std::string_view> annotation;  // kAnnotation
};

struct Adjustment {
  std::optional<std::uint32_t> classid;  // nullopt: the packets are in the default class
  std::int64_t egress_limit = 0;         // limit of the pod's own class, bytes per second; 0: no own class
  std::uint32_t priority = 0;            // priority of that class
  std::string problem = {};              // why the annotation is ignored; empty: not ignored

  bool operator==(const Adjustment&) const = default;
};

Adjustment adjust(const PodFacts& pod, const Network& network);

struct Plan {
  std::string classes;  // value of tc.classes; empty: no share and no limit
  std::vector<std::string> problems;
};

// Returns the classes of the node and of pods with their own limits.
Plan plan(const Network& network, const std::vector<PodFacts>& pods);

}  // namespace koord::hook_network
