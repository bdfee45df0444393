// SPDX-License-Identifier: Apache-2.0
// Messages of rtnetlink about the queueing discipline HTB of an interface and its classes (rtnetlink(7), tc-htb(8)):
// requests, and what the kernel's answers contain. Pure functions. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/knob/traffic_text.hpp"

namespace koord::knob {

inline constexpr std::uint32_t kTrafficHandle = kTrafficMajor << 16;

// Each returns a whole message with this sequence number.
std::string list_qdiscs(int interface, std::uint32_t sequence);
std::string list_classes(int interface, std::uint32_t sequence);
std::string add_root_qdisc(int interface, std::uint32_t sequence);
std::string remove_root_qdisc(int interface, std::uint32_t sequence);
// The class of a packet is net_cls.classid of the sender's cgroup.
std::string add_cgroup_filter(int interface, std::uint32_t sequence);
std::string set_class(int interface, std::uint16_t minor, const TrafficClass& one, std::uint32_t sequence);
std::string remove_class(int interface, std::uint16_t minor, std::uint32_t sequence);

// A queueing discipline or a class.
struct TrafficObject {
  int interface = 0;
  std::uint32_t handle = 0, parent = 0;
  std::string kind;                      // "htb"
  std::optional<TrafficClass> of_class;  // of one of HTB
};

struct TrafficAnswer {
  std::vector<TrafficObject> objects;
  bool is_done = false;  // the kernel sends no more
  int error = 0;         // errno
};

// Adds one datagram of an answer to this sequence number; messages of others and malformed ones are left out.
void read_answer(std::string_view datagram, std::uint32_t sequence, TrafficAnswer& answer);

}  // namespace koord::knob
