// SPDX-License-Identifier: Apache-2.0
#include "core/predict/model.hpp"

namespace koord::predict {

Percentiles Model::percentiles() const {
  const auto at = [this](double share) {
    return Amounts{static_cast<std::int64_t>(cpu.percentile(share) * 1000),
                   static_cast<std::int64_t>(memory.percentile(share))};
  };
  return {at(0.60), at(0.90), at(0.95), at(0.98), at(1.0)};
}

}  // namespace koord::predict
