// SPDX-License-Identifier: Apache-2.0
// RunNode: the node that a plugin is run on without an agent: this machine with its own time, or a recording with a
// clock that is moved. One thread at a time, except for clock().
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"
#include "core/workshop/fixture.hpp"
#include "core/workshop/node_state.hpp"

namespace koord::workshop {

class RunNode {
 public:
  explicit RunNode(StateTexts state) : state_(std::move(state)) {}
  virtual ~RunNode() = default;
  virtual const NodeRoots& roots() const = 0;
  virtual const Clock& clock() const = 0;
  virtual const std::string& name() const = 0;
  // It is the machine that this program runs on, so that others on it can be asked, too.
  virtual bool is_here() const { return true; }
  // Lets this much time go by.
  virtual Result<void> pass(Duration time) = 0;

  // Publishes the pods, containers and topology of this moment.
  Result<void> refresh(state::Hub& hub);

 private:
  StateTexts state_;
};

std::unique_ptr<RunNode> make_live_node(StateTexts state);
// This machine, without waiting for time to pass.
std::unique_ptr<RunNode> make_hasty_node(StateTexts state);
// At the time and with the files of the fixture's first frame; behind the last one nothing changes but the time.
Result<std::unique_ptr<RunNode>> make_replayed_node(Fixture fixture);

}  // namespace koord::workshop
