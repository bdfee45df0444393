// SPDX-License-Identifier: Apache-2.0
#include "core/knob/traffic_control.hpp"

#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <functional>

#include "core/base/unique_fd.hpp"
#include "core/knob/failures.hpp"
#include "core/knob/traffic_messages.hpp"

namespace koord::knob {
namespace {

constexpr std::size_t kMostDatagram = 64u << 10;  // the kernel sends at most 32 KiB in one datagram
constexpr timeval kKernelAnswers{1, 0};           // the longest wait; a working kernel answers immediately

class RouteSocket {
 public:
  static Result<RouteSocket> open() {
    UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    if (!fd) return system_error(errno, "cannot open a netlink socket");
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &kKernelAnswers, sizeof kKernelAnswers);
    return RouteSocket(std::move(fd));
  }

  // Sends a request and returns the answer. `error` of the answer is the kernel's.
  Result<TrafficAnswer> ask(const std::function<std::string(std::uint32_t sequence)>& request) {
    const std::string message = request(++sequence_);
    if (::send(fd_.get(), message.data(), message.size(), 0) < 0) return system_error(errno, "cannot send to netlink");
    TrafficAnswer answer;
    std::string datagram(kMostDatagram, '\0');
    while (!answer.is_done) {
      const ssize_t size = ::recv(fd_.get(), datagram.data(), datagram.size(), 0);
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) return system_error(size == 0 ? EPROTO : errno, "netlink does not answer");
      read_answer(std::string_view(datagram).substr(0, static_cast<std::size_t>(size)), sequence_, answer);
    }
    return answer;
  }

  Result<void> change(const std::function<std::string(std::uint32_t sequence)>& request, const std::string& what) {
    const TrafficAnswer answer = TRY(ask(request));
    if (answer.error == 0) return {};
    if (answer.error == EPERM) return unsupported("cannot " + what + ": needs CAP_NET_ADMIN");
    return system_error(answer.error, "cannot " + what);
  }

 private:
  explicit RouteSocket(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
  std::uint32_t sequence_ = 0;
};

struct Interface {
  std::string name;
  int index = 0;
};

Result<Interface> interface_of(const KnobTarget& target) {
  Interface interface { std::string(target.cgroup_dir), 0 };
  interface.index = static_cast<int>(::if_nametoindex(interface.name.c_str()));
  if (interface.index == 0) return ended("the interface '" + interface.name + "' is missing");
  return interface;
}

// Returns whether the interface has the host's queueing discipline. A discipline of the kernel has no handle, and a
// discipline of a program has one.
Result<bool> is_ours(RouteSocket& socket, const Interface& interface) {
  const TrafficAnswer answer =
      TRY(socket.ask([&](std::uint32_t sequence) { return list_qdiscs(interface.index, sequence); }));
  for (const TrafficObject& one : answer.objects) {
    if (one.interface != interface.index || one.parent != TC_H_ROOT || one.handle == 0) continue;
    if (one.handle == kTrafficHandle && one.kind == "htb") return true;
    return unsupported("the interface '" + interface.name + "' has the queueing discipline '" + one.kind +
                       "' of another program, which is not replaced");
  }
  return false;
}

Result<TrafficClasses> classes_of(RouteSocket& socket, const Interface& interface) {
  const TrafficAnswer answer =
      TRY(socket.ask([&](std::uint32_t sequence) { return list_classes(interface.index, sequence); }));
  TrafficClasses classes;
  for (const TrafficObject& one : answer.objects)
    if (one.interface == interface.index && one.of_class && TC_H_MAJ(one.handle) == kTrafficHandle)
      classes.emplace(static_cast<std::uint16_t>(TC_H_MIN(one.handle)), *one.of_class);
  return classes;
}

Result<void> remove_ours(RouteSocket& socket, const Interface& interface) {
  return socket.change([&](std::uint32_t sequence) { return remove_root_qdisc(interface.index, sequence); },
                       "remove the classes of '" + interface.name + "'");
}

Result<void> make_ours(RouteSocket& socket, const Interface& interface, TrafficControl::Filter filter) {
  Result<void> made = socket.change([&](std::uint32_t sequence) { return add_root_qdisc(interface.index, sequence); },
                                    "make classes on '" + interface.name + "'");
  if (!made && made.error().is(std::errc::no_such_file_or_directory))
    return unsupported("this kernel has no HTB (CONFIG_NET_SCH_HTB, module sch_htb)");
  if (!made || filter == TrafficControl::Filter::none) return made;
  Result<void> filtered =
      socket.change([&](std::uint32_t sequence) { return add_cgroup_filter(interface.index, sequence); },
                    "add the filter by cgroup on '" + interface.name + "'");
  if (filtered) return {};
  (void)remove_ours(socket, interface).has_value();
  if (filtered.error().is(std::errc::no_such_file_or_directory))
    return unsupported("this kernel has no filter by cgroup (CONFIG_NET_CLS_CGROUP, module cls_cgroup)");
  return filtered;
}

Result<void> set_classes(RouteSocket& socket, const Interface& interface, const TrafficClasses& wanted) {
  const TrafficClasses now = TRY(classes_of(socket, interface));
  for (const auto& [minor, one] : wanted) {  // class 1, the parent, is first
    const auto found = now.find(minor);
    if (found != now.end() && found->second == one) continue;
    TRY(socket.change([&, number = minor, values = one](
                          std::uint32_t sequence) { return set_class(interface.index, number, values, sequence); },
                      "set the class " + std::to_string(minor) + " of '" + interface.name + "'"));
  }
  for (const auto& [minor, one] : now) {
    if (wanted.contains(minor)) continue;
    TRY(socket.change(
        [&, number = minor](std::uint32_t sequence) { return remove_class(interface.index, number, sequence); },
        "remove the class " + std::to_string(minor) + " of '" + interface.name + "'"));
  }
  return {};
}

// Returns the name of the namespace, such as "net:[4026531992]".
std::string namespace_named(const std::string& path) {
  std::array<char, PATH_MAX> text;
  const ssize_t size = ::readlink(path.c_str(), text.data(), text.size());
  return size < 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(size));
}

}  // namespace

// Fails if the agent is not in the node's network namespace, because in the agent's own namespace, an interface of the
// same name is a different one.
Result<void> TrafficControl::check_namespace() const {
  const std::string of_node = namespace_named(proc_root_ + "/1/ns/net");
  if (!of_node.empty() && of_node == namespace_named("/proc/thread-self/ns/net")) return {};
  return unsupported(of_node.empty() ? "the node's network namespace is unknown: needs hostPID and CAP_SYS_PTRACE"
                                     : "the agent is not in the node's network namespace: needs hostNetwork");
}

Result<std::string> TrafficControl::read(const KnobTarget& target) const {
  TRY(check_namespace());
  RouteSocket socket = TRY(RouteSocket::open());
  const Interface interface = TRY(interface_of(target));
  if (!TRY(is_ours(socket, interface))) return std::string();
  return spell_traffic(value_of(TRY(classes_of(socket, interface))));
}

Result<void> TrafficControl::write(const KnobTarget& target, const std::string& text) const {
  TRY(check_namespace());
  RouteSocket socket = TRY(RouteSocket::open());
  const Interface interface = TRY(interface_of(target));
  const TrafficClasses wanted = traffic_of(TRY(decode_traffic(text)));
  const bool was_ours = TRY(is_ours(socket, interface));
  if (wanted.empty()) return was_ours ? remove_ours(socket, interface) : Result<void>();
  if (!was_ours) TRY(make_ours(socket, interface, filter_));
  Result<void> set = set_classes(socket, interface, wanted);
  if (!set && !was_ours) (void)remove_ours(socket, interface).has_value();
  return set;
}

std::uint64_t TrafficControl::inode(const KnobTarget& target) const {
  return ::if_nametoindex(std::string(target.cgroup_dir).c_str());
}

}  // namespace koord::knob
