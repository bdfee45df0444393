// SPDX-License-Identifier: Apache-2.0
// hook-resctrl: starts a new container in the resctrl group that qos-resctrl created for its pod.
#include <string>

#include "koordetector/plugin.hpp"
#include "plugins/hook-resctrl/resctrl_group.hpp"
#include "plugins/shared/node/host.hpp"
#include "plugins/shared/node/resctrl_mount.hpp"
#include "plugins/shared/node/value_file.hpp"
#include "plugins/shared/sdk/reported_problems.hpp"
#include "plugins/shared/slo/pod_slo.hpp"

namespace {

using koord::plugin::check;
using koord::plugin::str;
using koord::plugin::view;

class Resctrl final : public koord::plugin::RuntimeHook {
 public:
  void init() override {
    roots_ = koord::node::roots_of(host());
    const bool is_mounted = koord::node::exists(roots_.resctrl + "/schemata");
    const auto* capabilities = koord::plugin::require<koord_svc_capabilities>(host(), "koord.capabilities/1");
    capabilities->report(host(), str("resctrl_closid"),
                         is_mounted ? KOORD_CAPABILITY_SUPPORTED : KOORD_CAPABILITY_ABSENT,
                         str(is_mounted ? roots_.resctrl : koord::node::why_no_resctrl(roots_).message()));
  }

  // May run on several threads. Answers only for new containers. For existing containers qos-resctrl sets the group,
  // and removes it when CLOSIDs are scarce. A stored answer of this hook would keep it.
  void handle(const koord_hook_request& request, const koord_hook_response& response) override {
    if (view(request.cri_json).empty()) return;
    const koord_pod& pod = *request.pod;
    koord::slo::Problems problems;
    const auto part = koord::slo::resctrl_of(koord::slo::annotation_of(pod, koord::slo::kResctrlAnnotation), problems);
    for (const std::string& problem : problems) report("pod " + std::string(view(pod.name)) + ": " + problem);
    const auto group = koord::hook_resctrl::adjust({view(pod.uid), part.has_value()}, [this](const std::string& name) {
      return koord::node::exists(roots_.resctrl + "/" + name + "/schemata");
    });
    if (group) check(response.set(&response, str("linux.rdt.closid"), str(*group)), "linux.rdt.closid");
  }

 private:
  void report(const std::string& problem) {
    if (problems_.is_new(problem)) log(KOORD_LOG_WARN, problem);
  }

  koord::NodeRoots roots_;
  koord::hook_plugin::ReportedProblems problems_;
};

}  // namespace

KOORD_PLUGIN("id=hook-resctrl\n"
             "version=0.1.0\n"
             "kinds=koord.runtime-hook/1\n"
             "gate=Resctrl\n"
             "stage=alpha\n"
             "requires=koord.fs/1,koord.capabilities/1\n"
             "license=Apache-2.0\n"
             "description=the resctrl group of a pod's new containers\n",
             koord::plugin::runtime_hook<Resctrl, KOORD_STAGE_PRE_CREATE_CONTAINER>("resctrl"))
