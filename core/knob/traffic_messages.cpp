// SPDX-License-Identifier: Apache-2.0
#include "core/knob/traffic_messages.hpp"

#include <linux/if_ether.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace koord::knob {
namespace {

constexpr std::uint64_t kPacketBytes = 1600;  // as in koordlet
constexpr std::uint64_t kTickNs = 64;         // one tick of PSCHED, the kernel's unit for bucket sizes
constexpr std::uint64_t kMostQuantum = 200'000;
constexpr std::uint16_t kFilterPriority = 1;
constexpr std::uint32_t kHtbVersion = 3;
constexpr int kErrors = 4096;  // errno values of the kernel are smaller

constexpr std::size_t aligned(std::size_t size) { return (size + 3) & ~std::size_t{3}; }

template <class Plain>
void append(std::string& message, const Plain& plain) {
  message.append(reinterpret_cast<const char*>(&plain), sizeof plain);
  message.resize(aligned(message.size()));
}

void append_attribute(std::string& message, unsigned type, std::string_view data) {
  rtattr head{};
  head.rta_len = static_cast<unsigned short>(sizeof head + data.size());
  head.rta_type = static_cast<unsigned short>(type);
  append(message, head);
  message.append(data);
  message.resize(aligned(message.size()));
}

template <class Plain>
std::string_view bytes_of(const Plain& plain) {
  return {reinterpret_cast<const char*>(&plain), sizeof plain};
}

void append_kind(std::string& message, std::string_view kind) {
  append_attribute(message, TCA_KIND, std::string(kind) + '\0');
}

struct TcRequest {
  int type = 0, flags = 0;
  std::uint32_t sequence = 0;
};

std::string begin_message(const TcRequest& request, const tcmsg& about) {
  nlmsghdr head{};
  head.nlmsg_type = static_cast<std::uint16_t>(request.type);
  head.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | request.flags);
  head.nlmsg_seq = request.sequence;
  std::string message;
  append(message, head);
  append(message, about);
  return message;
}

std::string finished(std::string message) {
  const auto size = static_cast<std::uint32_t>(message.size());
  std::memcpy(message.data(), &size, sizeof size);  // nlmsg_len is the first member
  return message;
}

tcmsg about(int interface, std::uint32_t handle, std::uint32_t parent) {
  tcmsg message{};
  message.tcm_family = AF_UNSPEC;
  message.tcm_ifindex = interface;
  message.tcm_handle = handle;
  message.tcm_parent = parent;
  return message;
}

// Returns how many ticks `bytes` take at a rate.
std::uint32_t ticks_of(std::uint64_t bytes, std::uint64_t rate) {
  const double ticks = static_cast<double>(bytes) * 1e9 / static_cast<double>(rate) / static_cast<double>(kTickNs);
  return static_cast<std::uint32_t>(std::clamp(ticks, 200.0, 4e9));  // at least 200, as in koordlet
}

tc_ratespec rate_of(std::uint64_t rate) {
  tc_ratespec spec{};
  spec.rate = static_cast<std::uint32_t>(std::min<std::uint64_t>(rate, UINT32_MAX));
  spec.linklayer = TC_LINKLAYER_ETHERNET;  // with it the kernel needs no table of times
  return spec;
}

// Returns the bytes of one millisecond, which is the resolution of the kernel's timer, and of one packet.
std::uint64_t bucket_of(std::uint64_t rate) { return rate / 1000 + kPacketBytes; }

template <class Plain>
std::optional<Plain> plain_in(std::string_view bytes) {
  if (bytes.size() < sizeof(Plain)) return std::nullopt;
  Plain plain;
  std::memcpy(&plain, bytes.data(), sizeof plain);
  return plain;
}

struct Attribute {
  unsigned type;
  std::string_view data;
};

std::optional<Attribute> next_attribute(std::string_view& rest) {
  const auto head = plain_in<rtattr>(rest);
  if (!head || head->rta_len < sizeof(rtattr) || head->rta_len > rest.size()) return std::nullopt;
  const Attribute attribute{static_cast<unsigned>(head->rta_type) & NLA_TYPE_MASK,
                            rest.substr(sizeof(rtattr), head->rta_len - sizeof(rtattr))};
  rest.remove_prefix(std::min(rest.size(), aligned(head->rta_len)));
  return attribute;
}

std::optional<TrafficClass> read_class(std::string_view options) {
  std::optional<TrafficClass> found;
  std::optional<std::uint64_t> rate, ceil;
  while (const auto attribute = next_attribute(options)) {
    if (attribute->type == TCA_HTB_RATE64) rate = plain_in<std::uint64_t>(attribute->data);
    if (attribute->type == TCA_HTB_CEIL64) ceil = plain_in<std::uint64_t>(attribute->data);
    if (attribute->type != TCA_HTB_PARMS) continue;
    if (const auto parameters = plain_in<tc_htb_opt>(attribute->data))
      found = TrafficClass{parameters->rate.rate, parameters->ceil.rate, parameters->prio};
  }
  if (found && rate) found->rate = *rate;
  if (found && ceil) found->ceil = *ceil;
  return found;
}

std::optional<TrafficObject> read_object(std::string_view payload) {
  const auto about = plain_in<tcmsg>(payload);
  if (!about) return std::nullopt;
  TrafficObject object{about->tcm_ifindex, about->tcm_handle, about->tcm_parent, {}, {}};
  std::string_view rest = payload.substr(std::min(payload.size(), aligned(sizeof(tcmsg)))), options;
  while (const auto attribute = next_attribute(rest)) {
    if (attribute->type == TCA_KIND) object.kind = std::string(attribute->data.substr(0, attribute->data.find('\0')));
    if (attribute->type == TCA_OPTIONS) options = attribute->data;
  }
  if (object.kind == "htb") object.of_class = read_class(options);
  return object;
}

}  // namespace

std::string list_qdiscs(int interface, std::uint32_t sequence) {
  return finished(begin_message({RTM_GETQDISC, NLM_F_DUMP, sequence}, about(interface, 0, 0)));
}

std::string list_classes(int interface, std::uint32_t sequence) {
  return finished(begin_message({RTM_GETTCLASS, NLM_F_DUMP, sequence}, about(interface, 0, 0)));
}

std::string add_root_qdisc(int interface, std::uint32_t sequence) {
  std::string message = begin_message({RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK, sequence},
                                      about(interface, kTrafficHandle, TC_H_ROOT));
  append_kind(message, "htb");
  tc_htb_glob options{};
  options.version = kHtbVersion;
  options.rate2quantum = 10;
  options.defcls = kTrafficDefault;
  std::string nested;
  append_attribute(nested, TCA_HTB_INIT, bytes_of(options));
  append_attribute(message, TCA_OPTIONS, nested);
  return finished(std::move(message));
}

std::string remove_root_qdisc(int interface, std::uint32_t sequence) {
  return finished(begin_message({RTM_DELQDISC, NLM_F_ACK, sequence}, about(interface, kTrafficHandle, TC_H_ROOT)));
}

std::string add_cgroup_filter(int interface, std::uint32_t sequence) {
  tcmsg filter = about(interface, 1, kTrafficHandle);
  filter.tcm_info = TC_H_MAKE(static_cast<std::uint32_t>(kFilterPriority) << 16, htons(ETH_P_ALL));
  std::string message = begin_message({RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK, sequence}, filter);
  append_kind(message, "cgroup");
  append_attribute(message, TCA_OPTIONS, {});
  return finished(std::move(message));
}

std::string set_class(int interface, std::uint16_t minor, const TrafficClass& one, std::uint32_t sequence) {
  const std::uint32_t parent = minor == kTrafficRoot ? TC_H_ROOT : kTrafficHandle | kTrafficRoot;
  std::string message = begin_message({RTM_NEWTCLASS, NLM_F_CREATE | NLM_F_ACK, sequence},
                                      about(interface, kTrafficHandle | minor, parent));
  append_kind(message, "htb");
  tc_htb_opt options{};
  options.rate = rate_of(one.rate);
  options.ceil = rate_of(one.ceil);
  options.buffer = ticks_of(bucket_of(one.rate), one.rate);
  options.cbuffer = ticks_of(bucket_of(one.ceil), one.ceil);
  options.quantum = static_cast<std::uint32_t>(std::clamp(one.rate / 10, kPacketBytes, kMostQuantum));
  options.prio = one.priority;
  std::string nested;
  if (one.rate > UINT32_MAX) append_attribute(nested, TCA_HTB_RATE64, bytes_of(one.rate));
  if (one.ceil > UINT32_MAX) append_attribute(nested, TCA_HTB_CEIL64, bytes_of(one.ceil));
  append_attribute(nested, TCA_HTB_PARMS, bytes_of(options));
  append_attribute(message, TCA_OPTIONS, nested);
  return finished(std::move(message));
}

std::string remove_class(int interface, std::uint16_t minor, std::uint32_t sequence) {
  return finished(begin_message({RTM_DELTCLASS, NLM_F_ACK, sequence}, about(interface, kTrafficHandle | minor, 0)));
}

void read_answer(std::string_view datagram, std::uint32_t sequence, TrafficAnswer& answer) {
  while (const auto head = plain_in<nlmsghdr>(datagram)) {
    if (head->nlmsg_len < sizeof(nlmsghdr) || head->nlmsg_len > datagram.size()) return;
    const std::string_view payload = datagram.substr(sizeof(nlmsghdr), head->nlmsg_len - sizeof(nlmsghdr));
    datagram.remove_prefix(std::min(datagram.size(), aligned(head->nlmsg_len)));
    if (head->nlmsg_seq != sequence) continue;
    if (head->nlmsg_type == NLMSG_DONE) answer.is_done = true;
    if (head->nlmsg_type == NLMSG_ERROR) {
      answer.is_done = true;
      const int error = plain_in<int>(payload).value_or(-EPROTO);
      answer.error = error <= 0 && error > -kErrors ? -error : EPROTO;
    }
    if (head->nlmsg_type != RTM_NEWQDISC && head->nlmsg_type != RTM_NEWTCLASS) continue;
    if (auto object = read_object(payload)) answer.objects.push_back(*std::move(object));
  }
}

}  // namespace koord::knob
