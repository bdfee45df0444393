// SPDX-License-Identifier: Apache-2.0
// StopSignal: asks a plugin's own thread to end, through an eventfd that becomes readable and stays so. Fired once; the
// table given to the plugin is valid as long as the signal. [any thread]
#pragma once

#include "core/base/unique_fd.hpp"
#include "koordetector/plugin.h"

namespace koord::host {

class StopSignal {
 public:
  StopSignal();
  // The one that another process fires.
  explicit StopSignal(UniqueFd event);
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  void fire();
  bool fired() const;
  int fd() const { return event_.get(); }
  const koord_stop* table() const { return &table_; }

 private:
  UniqueFd event_;
  koord_stop table_;
};

}  // namespace koord::host
