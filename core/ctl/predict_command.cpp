// SPDX-License-Identifier: Apache-2.0
// koordctl predict: predictions, their accuracy, and resources that could be lent.
#include "core/ctl/command.hpp"
#include "core/ctl/predict_view.hpp"

namespace koord::ctl {
namespace {

Result<void> run_predict(const Invocation& invocation) {
  const std::string answer = TRY(ask_agent(invocation, "/api/v1/predictions"));
  const std::string tables = TRY(render_predictions(answer));
  invocation.out << (invocation.output == Output::json ? answer : tables);
  return {};
}

}  // namespace

const Command kPredict{"predict", "",
                       "Show predicted peaks, their accuracy, and requested resources that could be lent.", no_options,
                       run_predict};

}  // namespace koord::ctl
