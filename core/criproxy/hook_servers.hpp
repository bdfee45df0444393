// SPDX-License-Identifier: Apache-2.0
// HookServers: the hook servers that a directory names, and questions to them. The directory is read again when a
// question comes more than a second after the last reading. All servers that list the stage are asked, in the order of
// their files' names; of two that change one field the later holds. [any thread, may block]
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
  // `directory`: may be missing, or appear later. `wait`: for one server.
  HookServers(std::string directory, Duration wait, Counters& counters);
  ~HookServers();

  // One answer for each server that changes something. A server that does not answer is ignored, or refuses the call,
  // by its failure policy.
  std::vector<HookAnswer> ask(std::string_view stage, const wire::Checkpoint& about);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace koord::criproxy
