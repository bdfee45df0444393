// SPDX-License-Identifier: Apache-2.0
// Reduction: leaves out of an object the parts that the API server refused (422), so that one wrong member does not
// keep the rest from being reported. Pure. [any thread]
//
// A server names fields as "spec.devices[0].conditions[1].reason". A part that must be there ("Required value") is left
// out together with the object or list entry around it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/kube/object.hpp"

namespace koord::report {

// Fields are written as the server does; "[]" stands for any index.
struct ReductionRules {
  std::vector<std::string> whole;   // left out only as a whole: "status.podsMetric[]"
  std::vector<std::string> needed;  // never left out, nor anything in or around them
};

// The parts to leave out, by the causes of a refusal: concrete fields of this object. An error: the causes name no
// field, or one that must not be left out.
Result<std::vector<std::string>> parts_to_leave_out(std::string_view object,
                                                    const std::vector<kube::Status::Cause>& causes,
                                                    const ReductionRules& rules);

// The object without these fields; fields that it does not have are passed over.
Result<std::string> without(std::string_view object, const std::vector<std::string>& fields);

}  // namespace koord::report
