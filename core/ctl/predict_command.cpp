// SPDX-License-Identifier: Apache-2.0
// koordctl predict: what was learnt, what came of it, what could be lent.
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

const Command kPredict{"predict", "", "What was learnt of use at peaks, how it came true, and what of requests could be lent.",
                       no_options, run_predict};

}  // namespace koord::ctl
