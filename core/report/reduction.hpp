// SPDX-License-Identifier: Apache-2.0
// Reduction: removes the parts of an object that the API server refused (422), so that one invalid member does not
// prevent the report of the rest. Pure. [any thread]
//
// A server names fields like "spec.devices[0].conditions[1].reason". If a required part is missing ("Required value"),
// the object or list entry that lacks it is left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/kube/object.hpp"

namespace koord::report {

// Rules for leaving out parts. Fields are written as by the server; "[]" means any index.
struct ReductionRules {
  std::vector<std::string> whole;   // left out only as a whole: "status.podsMetric[]"
  std::vector<std::string> needed;  // never left out, like all parts inside and around them
};

// Returns the parts to leave out as concrete fields of this object, from the causes of a refusal. Fails if the causes
// name no field, or a field that must not be left out.
Result<std::vector<std::string>> parts_to_leave_out(std::string_view object,
                                                    const std::vector<kube::Status::Cause>& causes,
                                                    const ReductionRules& rules);

// Returns the object without these fields. Fields that it lacks are ignored.
Result<std::string> without(std::string_view object, const std::vector<std::string>& fields);

}  // namespace koord::report
