// SPDX-License-Identifier: Apache-2.0
#include "puppet.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <stdexcept>

namespace koord::test {

Puppet::Puppet(const std::string& path) {
  void* file = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (file == nullptr) throw std::runtime_error(::dlerror());
  auto strings = reinterpret_cast<PuppetStrings* (*)()>(::dlsym(file, "koord_test_puppet"));
  if (strings == nullptr) throw std::runtime_error(path + " is no puppet");
  strings_ = strings();
  strings_->hand = this;
  strings_->pull = [](void* hand, const PuppetCall& call) { return static_cast<Puppet*>(hand)->pulled(call); };
}

Puppet::~Puppet() { strings_->pull = nullptr; }

void Puppet::on(const std::string& call, Act act) {
  std::lock_guard lock(mutex_);
  acts_[call] = std::move(act);
}

koord_status Puppet::pulled(const PuppetCall& call) {
  Act act;
  {
    std::lock_guard lock(mutex_);
    calls_.emplace_back(call.name);
    called_.notify_all();
    if (auto found = acts_.find(call.name); found != acts_.end()) act = found->second;
  }
  return act ? act(call) : KOORD_OK;
}

std::vector<std::string> Puppet::calls() const {
  std::lock_guard lock(mutex_);
  return calls_;
}

std::size_t Puppet::count(const std::string& call) const {
  std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count(calls_.begin(), calls_.end(), call));
}

bool Puppet::await(const std::string& call, std::size_t times) {
  std::unique_lock lock(mutex_);
  return called_.wait_for(lock, kLongEnough, [&] {
    return static_cast<std::size_t>(std::count(calls_.begin(), calls_.end(), call)) >= times;
  });
}

}  // namespace koord::test
