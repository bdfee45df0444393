// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/check/watched_host.hpp"

#include <string>
#include <utility>

namespace koord::check {
namespace {

// Number of consecutive calls for which an answer is reported longer than the buffer. The next call gets the answer.
constexpr unsigned kMostLengthened = 3;
constexpr std::uint64_t kLonger = 1u << 20;

// The plugin's call on this thread.
thread_local WatchedHost* host_here = nullptr;
thread_local std::string_view call_here;

}  // namespace

WatchedHost::WatchedHost(std::unique_ptr<service::PluginContext> real, const FaultInjection& faults, Seen& seen)
    : real_(std::move(real)), faults_(faults), seen_(seen), host_{sizeof host_, KOORD_ABI_MAJOR, KOORD_ABI_MINOR,
                                                                  this,         get_service,     log,
                                                                  set_error} {}

void WatchedHost::end() {
  ended_ = true;
  real_.reset();
}

WatchedHost::Call::Call(WatchedHost& host, std::string_view name)
    : outer_host_(std::exchange(host_here, &host)), outer_name_(std::exchange(call_here, name)) {}

WatchedHost::Call::~Call() {
  host_here = outer_host_;
  call_here = outer_name_;
}

const koord_host* WatchedHost::admit(std::string_view service_call) {
  const std::string call(service_call);
  if (ended_) {
    seen_.after_destroy.add(call + " through the host of an instance after destroy() has returned");
    return nullptr;
  }
  if (host_here == this && call_here == "create()" && call != "log" && call != "set_error")
    seen_.out_of_place.add(call + " in create(): the services are there from init() on");
  if (host_here && host_here != this)
    seen_.other_instance.add(call + " in " + std::string(call_here) + " of one instance, through the host of another");
  if (!host_here && call == "set_error") seen_.out_of_place.add("set_error on a thread that is in no call of the host");
  const bool for_evaluate = call == "koord.knobs/1 propose" || call == "koord.evict/1 request";
  if (for_evaluate && !(host_here == this && call_here == "evaluate()"))
    seen_.out_of_place.add(call.substr(call.find(' ') + 1) + ' ' +
                           (host_here ? "in " + std::string(call_here) : "outside of every call") +
                           ": expected in evaluate()");
  return real_->host();
}

std::uint64_t WatchedHost::lengthen() {
  if (!faults_.needs_more) return 0;
  return ++lengthened_ % (kMostLengthened + 1) == 0 ? 0 : kLonger;
}

const void* WatchedHost::get_service(const koord_host* host, const char* id) {
  WatchedHost& self = of(host);
  const std::string name = id ? id : "";
  const koord_host* real = self.admit("get_service(" + name + ")");
  if (!real || self.faults_.missing.contains(name) || !real->get_service(real, id)) return nullptr;
  return watched_table(name, self.faults_);
}

void WatchedHost::log(const koord_host* host, std::int32_t level, koord_str message) {
  const koord_host* real = of(host).admit("log");
  if (real && !of(host).faults_.keeps_nothing) real->log(real, level, message);
}

void WatchedHost::set_error(const koord_host* host, koord_status status, koord_str why) {
  if (const koord_host* real = of(host).admit("set_error")) real->set_error(real, status, why);
}

}  // namespace koord::check
