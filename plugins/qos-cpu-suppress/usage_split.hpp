// SPDX-License-Identifier: Apache-2.0
// How a node's usage of one resource divides between best-effort work and all other: for strategies that make room for
// the latter. The formulas are koordlet's. Pure: values in, values out, of whatever unit. [any thread]
#pragma once

#include <optional>
#include <vector>

namespace koord::usage {

// Usage of a pod or a host application.
struct Use {
  double amount = 0;
  bool best_effort = false;
};

struct Parts {
  double node = 0;  // all that is used
  std::vector<Use> pods, applications;
  double reserved = 0;  // set aside for the system, used or not
};

struct Split {
  double pods = 0, applications = 0;  // that are not best-effort
  double best_effort = 0;             // pods and applications
  double system = 0;                  // all else, or what is reserved for it if that is more

  double others() const { return pods + applications + system; }
};

// The parts are not measured at the same moment: together they may be more than the node's, and then the system's is 0.
Split split(const Parts& parts);

// The larger of what the kubelet holds back and what is reserved beyond it; a value that is not known counts as 0.
double reserved(std::optional<double> capacity, std::optional<double> allocatable, std::optional<double> reservation);

}  // namespace koord::usage
