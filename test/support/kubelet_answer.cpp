// SPDX-License-Identifier: Apache-2.0
#include "test/support/kubelet_answer.hpp"

#include <boost/json.hpp>

namespace koord::test {
namespace {

namespace json = boost::json;

std::string hex(std::size_t seed, std::size_t digits) {
  std::string text;
  for (std::size_t i = 0; i < digits; ++i) text += "0123456789abcdef"[((seed * 2654435761u >> (i % 13)) + i * 7) & 15];
  return text;
}

// Records of field owners as an API server writes them. The agent never reads them.
json::array managed_fields() {
  json::object containers;
  for (const char* field : {"f:image", "f:imagePullPolicy", "f:name", "f:resources", "f:securityContext",
                            "f:volumeMounts", "f:terminationMessagePath", "f:terminationMessagePolicy"})
    containers[field] = json::object{};
  json::object environment{{".", json::object{}}};
  for (int i = 0; i < 24; ++i)
    environment["k:{\"name\":\"SETTING_" + std::to_string(i) + "\"}"] =
        json::object{{".", json::object{}}, {"f:name", json::object{}}, {"f:value", json::object{}}};
  containers["f:env"] = std::move(environment);
  json::array fields;
  for (const char* manager : {"kube-controller-manager", "kubelet"})
    fields.push_back(
        json::object{{"manager", manager},
                     {"operation", "Update"},
                     {"apiVersion", "v1"},
                     {"time", "2026-01-02T03:04:05Z"},
                     {"fieldsType", "FieldsV1"},
                     {"fieldsV1", {{"f:spec", {{"f:containers", {{"k:{\"name\":\"main\"}", containers}}}}}}}});
  return fields;
}

json::array environment() {
  json::array list;
  for (int i = 0; i < 24; ++i) {
    std::string number = std::to_string(i);
    list.push_back(
        {{"name", "SETTING_" + number}, {"value", "https://service-" + number + ".shop.svc:8443/path?q=" + number}});
  }
  list.push_back(
      {{"name", "POD_IP"}, {"valueFrom", {{"fieldRef", {{"apiVersion", "v1"}, {"fieldPath", "status.podIP"}}}}}});
  return list;
}

json::object container(const std::string& name, bool long_environment) {
  json::object object{
      {"name", name},
      {"image", "registry.example.org/shop/" + name + ":v1.2.3"},
      {"command", {"/usr/bin/" + name, "--config=/etc/app/config.yaml", "--v=2"}},
      {"ports", {{{"name", "http"}, {"containerPort", 8080}, {"protocol", "TCP"}}}},
      {"resources",
       {{"requests", {{"cpu", "250m"}, {"memory", "256Mi"}}}, {"limits", {{"cpu", "1500m"}, {"memory", "512Mi"}}}}},
      {"volumeMounts",
       {{{"name", "config"}, {"mountPath", "/etc/app"}},
        {{"name", "kube-api-access"},
         {"readOnly", true},
         {"mountPath", "/var/run/secrets/kubernetes.io/serviceaccount"}}}},
      {"livenessProbe",
       {{"httpGet", {{"path", "/healthz"}, {"port", 8080}, {"scheme", "HTTP"}}}, {"periodSeconds", 10}}},
      {"terminationMessagePath", "/dev/termination-log"},
      {"terminationMessagePolicy", "File"},
      {"imagePullPolicy", "IfNotPresent"},
      {"securityContext", {{"capabilities", {{"drop", {"ALL"}}}}, {"runAsNonRoot", true}}}};
  if (long_environment) object["env"] = environment();
  return object;
}

json::object container_status(const std::string& name, std::size_t seed) {
  return {
      {"name", name},
      {"state", {{"running", {{"startedAt", "2026-01-02T03:04:06Z"}}}}},
      {"lastState", json::object{}},
      {"ready", true},
      {"restartCount", 0},
      {"image", "registry.example.org/shop/" + name + ":v1.2.3"},
      {"imageID", "registry.example.org/shop/" + name + "@sha256:" + hex(seed + 1, 64)},
      {"containerID", "containerd://" + hex(seed, 64)},
      {"started", true},
      {"allocatedResources", {{"cpu", "250m"}, {"memory", "256Mi"}}},
      {"resources",
       {{"requests", {{"cpu", "250m"}, {"memory", "256Mi"}}}, {"limits", {{"cpu", "1500m"}, {"memory", "512Mi"}}}}}};
}

json::object metadata(const std::string& number, std::size_t seed) {
  return {{"name", "web-" + number},
          {"generateName", "web-"},
          {"namespace", "shop"},
          {"uid", hex(seed, 8) + "-1111-2222-3333-" + hex(seed + 2, 12)},
          {"resourceVersion", number},
          {"creationTimestamp", "2026-01-02T03:04:05Z"},
          {"labels", {{"app", "web"}, {"pod-template-hash", hex(seed, 10)}, {"koordinator.sh/qosClass", "LS"}}},
          {"annotations",
           {{"kubernetes.io/config.seen", "2026-01-02T03:04:05.123456789Z"}, {"kubernetes.io/config.source", "api"}}},
          {"ownerReferences",
           {{{"apiVersion", "apps/v1"},
             {"kind", "ReplicaSet"},
             {"name", "web-5"},
             {"uid", hex(seed, 32)},
             {"controller", true},
             {"blockOwnerDeletion", true}}}},
          {"managedFields", managed_fields()}};
}

json::object spec() {
  json::object proxy = container("proxy", false);
  proxy["restartPolicy"] = "Always";
  return {
      {"volumes",
       {{{"name", "config"}, {"configMap", {{"name", "web"}, {"defaultMode", 420}}}},
        {{"name", "data"}, {"persistentVolumeClaim", {{"claimName", "data-web"}}}},
        {{"name", "kube-api-access"},
         {"projected", {{"sources", {{{"serviceAccountToken", {{"expirationSeconds", 3607}, {"path", "token"}}}}}}}}}}},
      {"initContainers", {container("setup", false), std::move(proxy)}},
      {"containers", {container("main", true), container("log-shipper", false)}},
      {"restartPolicy", "Always"},
      {"terminationGracePeriodSeconds", 30},
      {"dnsPolicy", "ClusterFirst"},
      {"serviceAccountName", "web"},
      {"nodeName", "node-1"},
      {"securityContext", json::object{}},
      {"schedulerName", "koord-scheduler"},
      {"tolerations",
       {{{"key", "node.kubernetes.io/not-ready"},
         {"operator", "Exists"},
         {"effect", "NoExecute"},
         {"tolerationSeconds", 300}}}},
      {"priorityClassName", "koord-prod"},
      {"priority", 9100},
      {"enableServiceLinks", true},
      {"preemptionPolicy", "PreemptLowerPriority"}};
}

json::object status(std::size_t seed) {
  json::array conditions;
  for (const char* type : {"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"})
    conditions.push_back({{"type", type},
                          {"status", "True"},
                          {"lastProbeTime", nullptr},
                          {"lastTransitionTime", "2026-01-02T03:04:07Z"}});
  json::object setup = container_status("setup", seed + 4);
  setup["state"] = {{"terminated", {{"exitCode", 0}, {"reason", "Completed"}, {"startedAt", "2026-01-02T03:04:05Z"}}}};
  return {{"phase", "Running"},
          {"conditions", std::move(conditions)},
          {"hostIP", "10.0.0.7"},
          {"podIP", "10.1.0.7"},
          {"podIPs", {{{"ip", "10.1.0.7"}}}},
          {"startTime", "2026-01-02T03:04:05Z"},
          {"initContainerStatuses", {std::move(setup), container_status("proxy", seed + 5)}},
          {"containerStatuses", {container_status("main", seed + 6), container_status("log-shipper", seed + 7)}},
          {"qosClass", "Burstable"}};
}

}  // namespace

std::string kubelet_answer(std::size_t pods) {
  json::array items;
  for (std::size_t i = 0; i < pods; ++i) {
    const std::size_t seed = i * 16 + 1;
    items.push_back({{"metadata", metadata(std::to_string(i), seed)}, {"spec", spec()}, {"status", status(seed)}});
  }
  return json::serialize(json::object{
      {"kind", "PodList"}, {"apiVersion", "v1"}, {"metadata", json::object{}}, {"items", std::move(items)}});
}

}  // namespace koord::test
