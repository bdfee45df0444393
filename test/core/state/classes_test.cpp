// SPDX-License-Identifier: Apache-2.0
#include "core/state/classes.hpp"

#include <doctest/doctest.h>

using namespace koord::state;

namespace {

StringMap label(std::string_view key, std::string value) { return {{std::string(key), std::move(value)}}; }

Container with(std::vector<Resource> resources, ContainerKind kind = ContainerKind::regular) {
  Container container;
  container.kind = kind;
  container.resources = std::move(resources);
  return container;
}

const std::vector<Resource> kFull = {{"cpu", 500, 500}, {"memory", 1024, 1024}};

}  // namespace

TEST_CASE("the QoS label decides, whatever Kubernetes says") {
  CHECK(koord_qos(label(kQosLabel, "BE"), KubeQos::guaranteed) == KoordQos::be);
  CHECK(koord_qos(label(kQosLabel, "SYSTEM"), KubeQos::best_effort) == KoordQos::system);
  CHECK(koord_qos(label(kQosLabel, "LSE"), KubeQos::unknown) == KoordQos::lse);
}

TEST_CASE("without a QoS label, or with an unknown one, the Kubernetes QoS decides") {
  CHECK(koord_qos({}, KubeQos::guaranteed) == KoordQos::lsr);
  CHECK(koord_qos({}, KubeQos::burstable) == KoordQos::ls);
  CHECK(koord_qos(label(kQosLabel, "nonsense"), KubeQos::best_effort) == KoordQos::be);
  CHECK(koord_qos({}, KubeQos::unknown) == KoordQos::none);
}

TEST_CASE("the priority class is the label's, else by range, else by QoS") {
  CHECK(priority_class(label(kPriorityClassLabel, "koord-mid"), 9500, KoordQos::ls) == PriorityClass::mid);
  CHECK(priority_class(label(kPriorityClassLabel, "koord-gold"), 9500, KoordQos::be) == PriorityClass::batch);
  CHECK(priority_class(label(kPriorityClassLabel, "koord-gold"), 5500, KoordQos::ls) == PriorityClass::prod);
  CHECK(priority_class(label(kPriorityClassLabel, ""), 9500, KoordQos::be) == PriorityClass::batch);
  CHECK(priority_class({}, 9999, KoordQos::be) == PriorityClass::prod);
  CHECK(priority_class({}, 7000, KoordQos::be) == PriorityClass::mid);
  CHECK(priority_class({}, 5999, KoordQos::ls) == PriorityClass::batch);
  CHECK(priority_class({}, 3000, KoordQos::ls) == PriorityClass::free);
  CHECK(priority_class({}, 0, KoordQos::lsr) == PriorityClass::prod);
  CHECK(priority_class({}, 10000, KoordQos::be) == PriorityClass::batch);
  CHECK(priority_class({}, -5000, KoordQos::none) == PriorityClass::none);
}

TEST_CASE("a pod is Guaranteed when every container's requests are its limits") {
  CHECK(kube_qos_of({with(kFull), with(kFull, ContainerKind::init)}) == KubeQos::guaranteed);
  CHECK(kube_qos_of({with({{"cpu", kNoResource, 500}, {"memory", kNoResource, 1}})}) == KubeQos::guaranteed);
  CHECK(kube_qos_of({with(kFull), with({})}) == KubeQos::burstable);
  CHECK(kube_qos_of({with({{"cpu", 100, 500}, {"memory", 1, 1}})}) == KubeQos::burstable);
  CHECK(kube_qos_of({with({{"memory", 1, 1}})}) == KubeQos::burstable);
}

TEST_CASE("a pod without CPU and memory is BestEffort, whatever else it asks for") {
  CHECK(kube_qos_of({}) == KubeQos::best_effort);
  CHECK(kube_qos_of({with({{"kubernetes.io/batch-cpu", 1000, 1000}})}) == KubeQos::best_effort);
  CHECK(kube_qos_of({with({{"cpu", 0, 0}})}) == KubeQos::best_effort);
  CHECK(kube_qos_of({with(kFull), with({}, ContainerKind::ephemeral)}) == KubeQos::guaranteed);
}

TEST_CASE("the amounts of the whole pod alone decide its QoS") {
  CHECK(kube_qos_of({with({})}, kFull) == KubeQos::guaranteed);
  CHECK(kube_qos_of({with(kFull)}, {{"cpu", 500, 1000}}) == KubeQos::burstable);
}

TEST_CASE("the full name of a pod is its namespace, a slash and its name") {
  Pod pod;
  pod.namespace_ = "shop";
  pod.name = "web-0";
  CHECK(full_name(pod) == "shop/web-0");
}
