// SPDX-License-Identifier: Apache-2.0
// Splits a node's usage of a resource into best-effort work and everything else, for strategies that reserve room for
// the latter. The formulas are koordlet's. Pure: values in, values out, in any unit. [any thread]
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
  double node = 0;  // total usage
  std::vector<Use> pods, applications;
  double reserved = 0;  // reserved for the system, used or not
};

struct Split {
  double pods = 0, applications = 0;  // pods and applications that are not best-effort
  double best_effort = 0;             // best-effort pods and applications
  double system = 0;                  // everything else, or the reservation for the system if that is larger

  double others() const { return pods + applications + system; }
};

// Splits the usage. The parts are not measured at the same moment, so their sum may exceed the node's usage. In that
// case the system's part is 0.
Split split(const Parts& parts);

// Returns the larger of the kubelet's reservation (capacity − allocatable) and `reservation`. An unknown value counts
// as 0.
double reserved(std::optional<double> capacity, std::optional<double> allocatable, std::optional<double> reservation);

}  // namespace koord::usage
