// SPDX-License-Identifier: Apache-2.0
#include "puppet.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stdexcept>

// LeakSanitizer calls this. An instance that never returns is abandoned on purpose, with its memory.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:puppet.so\n"; }

namespace koord::test {

struct Puppet::State {
  std::mutex mutex;
  std::condition_variable called;
  std::map<std::string, Action> actions;
  std::vector<std::string> calls;

  std::size_t count(const std::string& call) const {
    return static_cast<std::size_t>(std::count(calls.begin(), calls.end(), call));
  }

  koord_status pulled(const PuppetCall& call) {
    Action action;
    {
      std::lock_guard lock(mutex);
      calls.emplace_back(call.name);
      called.notify_all();
      if (auto found = actions.find(call.name); found != actions.end()) action = found->second;
    }
    return action ? action(call) : KOORD_OK;
  }
};

Puppet::Puppet(const std::string& path) : state_(*new State) {
  void* file = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (file == nullptr) throw std::runtime_error(::dlerror());
  auto strings = reinterpret_cast<PuppetStrings* (*)()>(::dlsym(file, "koord_test_puppet"));
  if (strings == nullptr) throw std::runtime_error(path + " is no puppet");
  strings()->hand = &state_;
  strings()->pull = [](void* hand, const PuppetCall& call) { return static_cast<State*>(hand)->pulled(call); };
}

Puppet::~Puppet() {
  std::lock_guard lock(state_.mutex);
  state_.actions.clear();
}

void Puppet::on(const std::string& call, Action action) {
  std::lock_guard lock(state_.mutex);
  state_.actions[call] = std::move(action);
}

std::vector<std::string> Puppet::calls() const {
  std::lock_guard lock(state_.mutex);
  return state_.calls;
}

std::size_t Puppet::count(const std::string& call) const {
  std::lock_guard lock(state_.mutex);
  return state_.count(call);
}

bool Puppet::await(const std::string& call, std::size_t times) {
  std::unique_lock lock(state_.mutex);
  return state_.called.wait_for(lock, kLongEnough, [&] { return state_.count(call) >= times; });
}

}  // namespace koord::test
