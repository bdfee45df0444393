// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/check/service_rules.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/load/grants.hpp"
#include "core/service/status.hpp"
#include "core/workshop/check/class_trial.hpp"

namespace koord::check {
namespace {

constexpr std::size_t kManyPods = 5000;

// Calls that succeeded on a host without faults must also succeed here.
Outcome judge_as_before(ClassTrial& class_trial, const std::string& circumstance) {
  note_circumstance(circumstance);
  const SessionRecord session = run_session(class_trial);
  if (!class_trial.suspect.sessions || session.went_well()) return {};
  return Outcome::failed(circumstance + ": " + session.failure);
}

// Accepts any result, because the plugin only has to return.
void run_session_under(ClassTrial& class_trial, const std::string& circumstance) {
  note_circumstance(circumstance);
  run_session(class_trial);
}

bool is_granted(const ClassTrial& class_trial, const std::string& service) {
  const auto granted = load::granted_services(class_trial.info().kind);
  return std::find(granted.begin(), granted.end(), service) != granted.end();
}

Outcome refuses_without(ClassTrial& class_trial, const std::string& service) {
  note_circumstance("without " + service);
  class_trial.trial.faults().missing = {service};
  const SessionRecord session = run_session(class_trial);
  class_trial.trial.faults().missing.clear();
  if (!session.began) return {};
  return Outcome::failed("init() returned KOORD_OK without " + service + ", which the manifest requires");
}

void tick_and_notify(CalledInstance& instance) {
  instance.tick();
  instance.on_event(KOORD_ON_PODS | KOORD_ON_NODE | KOORD_ON_CONFIG);
}

}  // namespace

Outcome refuses_without_a_required_service(Suspect& suspect) {
  if (suspect.manifest->required_services.empty()) return Outcome::not_applicable("it requires no service");
  return run_in_trial(suspect, [](ClassTrial& class_trial) -> Outcome {
    for (const std::string& service : class_trial.suspect.manifest->required_services) {
      // If the plugin has several classes, only some may need the service.
      const bool alone = class_trial.module.classes().size() == 1;
      if (!is_granted(class_trial, service)) continue;
      if (Outcome outcome = refuses_without(class_trial, service); alone && outcome.kind == Outcome::Kind::failed)
        return outcome;
    }
    return {};
  });
}

Outcome does_without_optional_services(Suspect& suspect) {
  if (suspect.manifest->optional_services.empty()) return Outcome::not_applicable("it names no optional service");
  return run_in_trial(suspect, [](ClassTrial& class_trial) -> Outcome {
    for (const std::string& service : class_trial.suspect.manifest->optional_services) {
      class_trial.trial.faults().missing = {service};
      if (Outcome outcome = judge_as_before(class_trial, "without " + service); outcome.kind == Outcome::Kind::failed)
        return outcome;
    }
    return {};
  });
}

Outcome stands_failing_services(Suspect& suspect) {
  return run_in_trial(suspect, [](ClassTrial& class_trial) -> Outcome {
    for (koord_status answer : {KOORD_E_AGAIN, KOORD_E_DENIED, KOORD_E_DEADLINE}) {
      const std::string circumstance = "every service answers " + service::name_of_status(answer);
      class_trial.trial.faults().answer = answer;
      run_session_under(class_trial, circumstance + " from the beginning on");
      class_trial.trial.faults().answer.reset();
      note_circumstance(circumstance + " after init()");
      CalledInstance instance = class_trial.instance();
      if (instance.create() != KOORD_OK || instance.init() != KOORD_OK) continue;
      instance.tick();
      class_trial.trial.faults().answer = answer;
      for (int i = 0; i < 3; ++i) tick_and_notify(instance);
      class_trial.trial.faults().answer.reset();
      instance.tick();
    }
    return {};
  });
}

Outcome stands_growing_answers(Suspect& suspect) {
  return run_in_trial(suspect, [](ClassTrial& class_trial) -> Outcome {
    class_trial.trial.faults().needs_more = true;
    run_session_under(class_trial, "each answer is longer than the *need before");
    return {};
  });
}

Outcome stands_jumps_of_time(Suspect& suspect) {
  return run_in_trial(suspect, [](ClassTrial& class_trial) -> Outcome {
    CalledInstance instance = class_trial.instance();
    if (instance.create() != KOORD_OK || instance.init() != KOORD_OK) return {};
    ManualClock& clock = class_trial.trial.clock();
    instance.tick();
    note_circumstance("two ticks at the same time");
    instance.tick_at(to_ns(clock.now()));
    note_circumstance("host time a nanosecond later");
    clock.advance(Duration(1));
    instance.tick_at(to_ns(clock.now()));
    note_circumstance("host time a day later");
    clock.advance(std::chrono::hours(24));
    instance.tick();
    for (auto [words, step] : {std::pair("wall time an hour back", -1), std::pair("wall time a year ahead", 8760)}) {
      note_circumstance(words);
      clock.step_wall(std::chrono::hours(step));
      instance.tick();
    }
    note_circumstance("host time ten years later");
    clock.advance(std::chrono::hours(24 * 3650));
    instance.tick();
    return {};
  });
}

Outcome stands_any_number_of_pods(Suspect& suspect) {
  return run_in_trial(suspect, [](ClassTrial& class_trial) -> Outcome {
    CalledInstance instance = class_trial.instance();
    if (instance.create() != KOORD_OK || instance.init() != KOORD_OK) return {};
    for (std::size_t pods : {std::size_t{0}, kManyPods, std::size_t{1}, std::size_t{0}}) {
      note_circumstance(std::to_string(pods) + " pods on the node");
      class_trial.trial.publish_pods(pods);
      instance.on_event(KOORD_ON_PODS);
      instance.tick();
    }
    return {};
  });
}

Outcome refuses_cut_tables(Suspect& suspect) {
  return run_in_trial(suspect, [](ClassTrial& class_trial) -> Outcome {
    class_trial.trial.faults().tables = Tables::cut;
    note_circumstance("the tables of the services end behind their struct_size");
    const SessionRecord session = run_session(class_trial);
    const auto& required = class_trial.suspect.manifest->required_services;
    const bool needs = std::any_of(required.begin(), required.end(),
                                   [&](const std::string& service) { return is_granted(class_trial, service); });
    if (!session.began || !needs || class_trial.module.classes().size() > 1) return {};
    return Outcome::failed("init() returned KOORD_OK though the tables of the services have no members");
  });
}

Outcome takes_grown_tables(Suspect& suspect) {
  return run_in_trial(suspect, [](ClassTrial& class_trial) {
    class_trial.trial.faults().tables = Tables::grown;
    return judge_as_before(class_trial, "the tables of the services are longer than plugin.h has them");
  });
}

Outcome steps_by_the_stride(Suspect& suspect) {
  return run_in_trial(suspect, [](ClassTrial& class_trial) {
    class_trial.trial.faults().lending = Lending::widely;
    return judge_as_before(class_trial, "records in arrays stand further apart than their sizeof");
  });
}

Outcome writes_to_nothing_borrowed(Suspect& suspect) {
  return run_in_trial(suspect, [](ClassTrial& class_trial) -> Outcome {
    class_trial.trial.faults().lending = Lending::read_only;
    run_session_under(class_trial, "the host lends read-only memory");
    return {};
  });
}

Outcome keeps_nothing_borrowed(Suspect& suspect) {
  return run_in_trial(suspect, [](ClassTrial& class_trial) -> Outcome {
    class_trial.trial.faults().lending = Lending::until_back;
    note_circumstance("lent memory cannot be read after its release");
    const SessionRecord session = run_session(class_trial);
    if (session.held == 0) return {};
    return Outcome::failed(std::to_string(session.held) +
                           " snapshots of the state were not released when destroy() had returned");
  });
}

}  // namespace koord::check
