// SPDX-License-Identifier: Apache-2.0
// HookServers: asks the hook servers that a directory configures. The directory is read again at the first question
// that comes more than a second after the last read. All servers with the stage are asked in the order of their files'
// names. If two servers change the same field, the value of the later server is used. [any thread, may block]
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/criproxy/agent_question.hpp"
#include "core/criproxy/counters.hpp"

namespace koord::criproxy {

class HookServers {
 public:
  // `directory` may be missing, and may be created later. `wait`: the time limit for one server.
  HookServers(std::string directory, Duration wait, Counters& counters);
  ~HookServers();

  // Returns one answer for each server with changes. If a server does not answer, its failure policy decides whether
  // the server is ignored or the call is refused.
  std::vector<HookAnswer> ask(std::string_view stage, const wire::Checkpoint& about);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace koord::criproxy
