// SPDX-License-Identifier: Apache-2.0
#include "core/state/objects.hpp"
#include "core/state/pod_object.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::state;

namespace {

const cgroup::KubeRoot kSystemd = cgroup::default_kube_root(cgroup::Driver::systemd);
const cgroup::KubeRoot kCgroupfs = cgroup::default_kube_root(cgroup::Driver::cgroupfs);

constexpr const char* kWeb = R"(
apiVersion: v1
kind: PodList
items:
- metadata:
    uid: 11-22
    name: web
    namespace: shop
    labels: {app: web, koordinator.sh/qosClass: LSR}
    ownerReferences:
    - {kind: Node, name: other}
    - {kind: ReplicaSet, name: web-5, controller: true}
  spec:
    priority: 9100
    initContainers:
    - {name: setup, resources: {requests: {cpu: 2}}}
    - {name: proxy, restartPolicy: Always, resources: {requests: {cpu: 100m}}}
    containers:
    - name: main
      resources:
        requests: {cpu: 1500m, memory: 1.5Gi, kubernetes.io/batch-cpu: "2000"}
        limits: {cpu: 3}
  status:
    phase: Running
    qosClass: Burstable
    startTime: "2026-01-02T03:04:05Z"
    containerStatuses:
    - {name: main, containerID: "containerd://abc", state: {running: {startedAt: "2026-01-02T03:04:06Z"}}}
    initContainerStatuses:
    - {name: setup, containerID: "containerd://def", state: {terminated: {exitCode: 0}}}
)";

Pod web(const cgroup::KubeRoot& root = kSystemd) { return parse_pod_list(kWeb, root)->front(); }

Pod minimal(const std::string& spec, const std::string& status = "{}") {
  return parse_pod_list("items: [{metadata: {uid: u, name: n}, spec: " + spec + ", status: " + status + "}]", kSystemd)
      ->front();
}

std::string error_of(const std::string& text) { return parse_pod_list(text, kSystemd).error().message(); }

Resource resource(const std::vector<Resource>& resources, std::string_view name) {
  for (const Resource& candidate : resources) {
    if (candidate.name == name) return candidate;
  }
  return {};
}

}  // namespace

TEST_CASE("a pod's volumes are those of claims, also of one made for it, and of CSI drivers") {
  const Pod pod =
      minimal(R"({volumes: [{name: data, persistentVolumeClaim: {claimName: data-n-0}}, {name: tmp, emptyDir: {}},
      {name: cache, ephemeral: {volumeClaimTemplate: {spec: {}}}}, {name: token, csi: {driver: secrets}}]})");
  CHECK(pod.volumes == std::vector<PodVolume>{{"data", "data-n-0"}, {"cache", "n-cache"}, {"token", ""}});
}

TEST_CASE("a pod's identity, classes and owner are read") {
  Pod pod = web();
  CHECK(pod.uid == "11-22");
  CHECK(pod.namespace_ == "shop");
  CHECK(pod.koord_qos == KoordQos::lsr);
  CHECK(pod.priority == 9100);
  CHECK(pod.priority_class == PriorityClass::prod);
  CHECK(pod.phase == Phase::running);
  CHECK(pod.start_time_ns == 1767323045'000000000);
  CHECK(pod.owner_kind == "ReplicaSet");
  CHECK(pod.owner_name == "web-5");
  CHECK(pod.labels.at("app") == "web");
}

TEST_CASE("containers have their kind, state, id and exact quantities") {
  std::vector<Container> containers = web().containers;
  REQUIRE(containers.size() == 3);
  CHECK(containers[0].kind == ContainerKind::init);
  CHECK(containers[0].state == ContainerState::terminated);
  CHECK(containers[1].kind == ContainerKind::sidecar);
  CHECK(containers[1].state == ContainerState::unknown);
  CHECK(containers[2].id == "containerd://abc");
  CHECK(containers[2].state == ContainerState::running);
  CHECK(resource(containers[2].resources, "cpu") == Resource{"cpu", 1500, 3000});
  CHECK(resource(containers[2].resources, "memory").request == 1610612736);
  CHECK(resource(containers[2].resources, "kubernetes.io/batch-cpu").request == 2000);
}

TEST_CASE("cgroup directories follow the driver, and a container without an id has none") {
  CHECK(web(kSystemd).containers[2].cgroup_dir ==
        "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod11_22.slice/cri-containerd-abc.scope");
  CHECK(web(kCgroupfs).containers[2].cgroup_dir == "kubepods/burstable/pod11-22/abc");
  CHECK(web().containers[1].cgroup_dir.empty());
}

TEST_CASE("a pod asks for what runs, or for what starts where that is more") {
  CHECK(resource(web().resources, "cpu").request == 2000);
  CHECK(resource(web().resources, "cpu").limit == kNoResource);
  Pod late = minimal("{containers: [{name: a, resources: {requests: {cpu: 1}, limits: {cpu: 2}}},"
                     "{name: b, resources: {limits: {cpu: 3}}}], overhead: {cpu: 50m}}");
  CHECK(resource(late.resources, "cpu") == Resource{"cpu", 4050, 5050});
}

TEST_CASE("resources that a pod states for itself go before its containers'") {
  Pod pod = minimal("{resources: {limits: {cpu: 4}}, containers: [{name: a, resources: {requests: {cpu: 1}}}]}");
  CHECK(resource(pod.resources, "cpu").limit == 4000);
}

TEST_CASE("an empty qosClass is computed from the spec") {
  CHECK(minimal("{containers: [{name: a}]}").kube_qos == KubeQos::best_effort);
  CHECK(minimal("{containers: [{name: a, resources: {limits: {cpu: 1, memory: 1Gi}}}]}").kube_qos ==
        KubeQos::guaranteed);
  CHECK(minimal("{}", "{qosClass: Burstable}").kube_qos == KubeQos::burstable);
}

namespace {

constexpr const char* kHash = "1f2e3d4c5b6a79880f1e2d3c4b5a6978";

// A mirror pod as a kubelet makes it, except for the test's change.
struct Mirror {
  std::string mirror = kHash, hash = kHash, source = "file", owner = "Node", owner_name = "node-1";

  std::string dir(std::string_view node = "node-1") const { return pod(node).cgroup_dir; }
  Pod pod(std::string_view node = "node-1") const {
    const std::string text =
        R"({"kind":"Pod","metadata":{"uid":"u","name":"n","annotations":{"kubernetes.io/config.mirror":")" + mirror +
        R"(","kubernetes.io/config.hash":")" + hash + R"(","kubernetes.io/config.source":")" + source +
        R"("},"ownerReferences":[{"kind":")" + owner + R"(","name":")" + owner_name + R"(","controller":true}]}})";
    return *parse_pod(text, kCgroupfs, node);
  }
};

}  // namespace

TEST_CASE("a mirror pod lies where its static pod's uid says") {
  CHECK(Mirror().dir() == "kubepods/besteffort/pod" + std::string(kHash));
  CHECK(Mirror().dir("") == "kubepods/besteffort/pod" + std::string(kHash));
  CHECK(Mirror{.source = "http"}.dir() == "kubepods/besteffort/pod" + std::string(kHash));
}

TEST_CASE("a pod that only says that it is a mirror lies where its own uid says") {
  const std::string own = "kubepods/besteffort/podu";
  const std::string other = "0b7d6a2e-0000-4000-8000-000000000009";  // the hash of a different pod
  CHECK(Mirror{.mirror = other, .hash = other}.dir() == own);
  CHECK(Mirror{.hash = "x"}.dir() == own);
  CHECK(Mirror{.source = "api"}.dir() == own);
  CHECK(Mirror{.owner = "ReplicaSet"}.dir() == own);
  CHECK(Mirror{.owner_name = "node-2"}.dir() == own);
  CHECK(parse_pod_list("items: [{metadata: {uid: u, name: n, annotations: {kubernetes.io/config.mirror: abc0}}}]",
                       kCgroupfs)
            ->front()
            .cgroup_dir == own);
}

TEST_CASE("a pod of the API server keeps what it says of a static source only as a mirror pod of this node") {
  const auto annotations = [](const Mirror& mirror) {
    Pod pod = mirror.pod();
    drop_forged_source(pod, "node-1");
    return pod.annotations;
  };
  CHECK(annotations({}).size() == 3);
  CHECK(annotations({.owner = "ReplicaSet"}).empty());
  CHECK(annotations({.hash = "x"}).empty());
  CHECK(annotations({.owner_name = "node-2"}).empty());
}

TEST_CASE("a pod with a requested end is deleting") {
  CHECK_FALSE(web().deleting);
  CHECK(parse_pod("metadata: {uid: u, name: n, deletionTimestamp: '2026-01-02T03:04:05Z'}", kSystemd)->deleting);
}

TEST_CASE("a bad pod in a server's list is left out and reported") {
  PodList list = *parse_served_pods(R"({"kind": "PodList", "items": [{"metadata": {"uid": "a", "name": "n"}},
    {"metadata": {"name": "n"}}, {"metadata": {"uid": "c", "name": "n"}}]})",
                                    kSystemd);
  REQUIRE(list.pods.size() == 2);
  CHECK(list.pods[1].uid == "c");
  REQUIRE(list.problems.size() == 1);
  CHECK(list.problems[0] == "items[1].metadata.uid: expected text, found nothing");
}

TEST_CASE("a list with null items is empty, one without items is an error") {
  CHECK(parse_served_pods(R"({"kind": "PodList", "items": null})", kSystemd)->pods.empty());
  CHECK(parse_served_pods(R"({"kind": "Status"})", kSystemd).error().message() ==
        "kind: expected 'PodList', found 'Status'");
  CHECK(parse_served_pods("{}", kSystemd).error().message() == "items: expected a list, found nothing");
}

TEST_CASE("only used annotations are kept, at most 64 KiB of a pod") {
  const auto keys = std::make_shared<const AnnotationKeys>(std::vector<std::string>{"example.org/*", "plain"});
  PodListReader reader(keys);
  const std::string large(40'000, 'x');
  const std::string text =
      R"({"items":[{"metadata":{"annotations":{"other.org/x":")" + std::string(1 << 20, 'x') +
      R"(","koordinator.sh/a":"1","slo.koordinator.sh/b":")" + large + R"(","example.org/c":")" + large +
      R"(","plain":"2","notkoordinator.sh/d":"3","koordinator.sh":"4"},"name":"n","uid":"u","namespace":"ns"}}]})";
  for (std::size_t at = 0; at < text.size(); at += 4096) REQUIRE(reader.feed(std::string_view(text).substr(at, 4096)));
  const PodList list = *reader.end();
  REQUIRE(list.pods.size() == 1);
  CHECK(list.pods[0].annotations.size() == 3);
  CHECK(list.pods[0].annotations.at("slo.koordinator.sh/b") == large);
  CHECK(list.pods[0].annotations.at("plain") == "2");
  REQUIRE(list.problems.size() == 1);
  CHECK(list.problems[0] == "pod ns/n: annotation example.org/c is left out: more than 64 KiB of annotations");
}

TEST_CASE("a pod that would fill the memory is left out, and those around it are read") {
  PodListReader reader(std::make_shared<const AnnotationKeys>());
  REQUIRE(reader.feed(R"({"items":[{"metadata":{"uid":"a","name":"a"}},{"metadata":{"uid":"b","name":"b","labels":{)"));
  for (int i = 0; i < 100; ++i)
    REQUIRE(reader.feed("\"" + std::to_string(i) + "\":\"" + std::string(100'000, 'x') + "\","));
  REQUIRE(reader.feed(R"("z":"1"}},"spec":{}},{"metadata":{"uid":"c","name":"c"}}]})"));
  const PodList list = *reader.end();
  REQUIRE(list.pods.size() == 2);
  CHECK(list.pods[1].uid == "c");
  CHECK(list.problems.at(0).find("items[1]: the pod has more than 4 MiB") != std::string::npos);
}

TEST_CASE("a list of too many pods, or of too much to keep, is an error as soon as it is") {
  const auto keys = std::make_shared<const AnnotationKeys>();
  const auto feed = [&](const std::string& item, int times) -> std::string {
    PodListReader reader(keys);
    Result<void> fed = reader.feed(R"({"items":[{"metadata":{"uid":"a","name":"a"}})");
    for (int i = 0; fed && i < times; ++i) fed = reader.feed("," + item);
    if (!fed) return fed.error().message();
    REQUIRE(reader.feed("]}"));
    return std::to_string(reader.end()->pods.size());
  };
  const std::string small = R"({"metadata":{"uid":"b","name":"b"}})",
                    too_many = "items: found more than 4096 pods or 48 MiB to keep";
  const std::string large =
      R"({"metadata":{"uid":"b","name":"b","labels":{"a":")" + std::string(2 << 20, 'x') + R"("}}})";
  CHECK(feed(small, 4095) == "4096");
  CHECK(feed(small, 4096).starts_with(too_many + ", expected at most those"));
  CHECK(feed("{}", 5000).starts_with(too_many));
  CHECK(feed(large, 30).starts_with(too_many));
}

TEST_CASE("a pod that is bound to another node is refused where this node is known") {
  const std::string other = R"({"metadata":{"uid":"u","name":"n"},"spec":{"nodeName":"b"}})";
  CHECK(parse_pod(other, kSystemd)->node == "b");
  CHECK(parse_pod(other, kSystemd, "b"));
  CHECK(parse_pod(other, kSystemd, "a").error().message() == "spec.nodeName: found 'b', expected 'a', left out");
  PodList list = *parse_served_pods(R"({"items":[)" + other + R"(,{"metadata":{"uid":"v","name":"m"}}]})", kSystemd);
  drop_pods_of_others(list, "");
  CHECK(list.pods.size() == 2);
  drop_pods_of_others(list, "a");
  REQUIRE(list.pods.size() == 1);
  CHECK(list.pods[0].uid == "v");
  CHECK(list.problems == std::vector<std::string>{"pod default/n: spec.nodeName: found 'b', expected 'a', left out"});
}

TEST_CASE("the kept text of a pod is read as the pod was") {
  const std::string text =
      R"({"metadata":{"uid":"u","name":"n","managedFields":[1],"annotations":{"koordinator.sh/a":"1","b":"2"}},"spec":{"priority":7,"nodeName":"x"}})";
  const std::string trimmed = trim_pod(text, std::make_shared<const AnnotationKeys>());
  CHECK(
      trimmed ==
      R"({"metadata":{"uid":"u","name":"n","annotations":{"koordinator.sh/a":"1"}},"spec":{"priority":7,"nodeName":"x"}})");
  CHECK(trim_pod("no JSON", std::make_shared<const AnnotationKeys>()) == "no JSON");
}

TEST_CASE(
    "the limit of a resized container is that of its spec, and the actual one while the kubelet has not granted it") {
  const std::string spec = "{containers: [{name: a, resources: {requests: {cpu: 2}, limits: {cpu: 4}}}]}";
  const std::string status =
      "containerStatuses: [{name: a, allocatedResources: {cpu: 1}, resources: {requests: {cpu: 1}, limits: {cpu: 2}}}]";
  using Row = std::pair<std::string, Resource>;  // the kubelet's answer, the expected amounts
  const auto pending = [](const std::string& rest) { return "conditions: [{type: PodResizePending, " + rest + "}]"; };
  const Row rows[] = {
      {"phase: Running", {"cpu", 2000, 4000}},
      {"resize: InProgress", {"cpu", 2000, 4000}},
      {"conditions: [{type: PodResizeInProgress, status: 'True'}]", {"cpu", 2000, 4000}},
      {pending("status: 'False', reason: Infeasible"), {"cpu", 2000, 4000}},
      {"resize: Proposed", {"cpu", 2000, 2000}},
      {"resize: Deferred", {"cpu", 2000, 2000}},
      {pending("status: 'True', reason: Deferred"), {"cpu", 2000, 2000}},
      {"resize: Infeasible", {"cpu", 1000, 2000}},
      {pending("status: 'True', reason: Infeasible"), {"cpu", 1000, 2000}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.first);
    const Pod pod = minimal(spec, "{" + row.first + ", " + status + "}");
    CHECK(pod.containers[0].resources.front() == row.second);
    CHECK(pod.resources.front() == row.second);
  }
}

TEST_CASE("containers of each runtime lie where it puts them") {
  struct Names {
    const char *id, *systemd, *cgroupfs;
  };
  for (const Names& names :
       {Names{"containerd://ab", "cri-containerd-ab.scope", "ab"}, Names{"cri-o://ab", "crio-ab.scope", "crio-ab"},
        Names{"docker://ab", "docker-ab.scope", "ab"}, Names{"pouch://ab", "pouch-ab.scope", "ab"}}) {
    const std::string text =
        R"({"metadata": {"uid": "u", "name": "n"}, "spec": {"containers": [{"name": "a"}]}, "status": {"qosClass": "BestEffort",
      "containerStatuses": [{"name": "a", "containerID": ")" +
        std::string(names.id) + "\"}]}}";
    CHECK(parse_pod(text, kSystemd)->containers[0].cgroup_dir ==
          "kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podu.slice/" + std::string(names.systemd));
    CHECK(parse_pod(text, kCgroupfs)->containers[0].cgroup_dir ==
          "kubepods/besteffort/podu/" + std::string(names.cgroupfs));
  }
}

TEST_CASE("the copy that kubectl leaves in a pod's annotations is not kept") {
  Pod pod = *parse_pod(
      "metadata: {uid: u, name: n, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{}', a: b}}",
      kSystemd);
  CHECK(pod.annotations == StringMap{{"a", "b"}});
}

TEST_CASE("a pod with a name that no API server lets through is left out and named") {
  const auto problem = [](const std::string& name) {
    return parse_pod(R"({"metadata":{"uid":"u","name":")" + name + R"("}})", kSystemd).error().message();
  };
  CHECK(problem("a\\u0000b") == "metadata.name: a name has no control characters");
  CHECK(problem("a\\nb") == "metadata.name: a name has no control characters");
  CHECK(problem(std::string(254, 'a')) == "metadata.name: found a name of 254 bytes, expected at most 253");
  CHECK(parse_pod(R"({"metadata":{"uid":"u","name":")" + std::string(253, 'a') + R"("}})", kSystemd));
}

TEST_CASE("JSON and YAML have the same result") {
  std::string json = R"({"kind":"List","items":[{"metadata":{"uid":"u","name":"\u00e9"},"spec":{"containers":
    [{"name":"a","resources":{"requests":{"cpu":0.5,"memory":"1e3"}}}]}}]})";
  std::string yaml = "kind: List\nitems: [{metadata: {uid: u, name: \"\\u00e9\"}, spec: {containers: "
                     "[{name: a, resources: {requests: {cpu: 0.5, memory: 1e3}}}]}}]";
  REQUIRE(parse_pod_list(json, kSystemd));
  CHECK(*parse_pod_list(json, kSystemd) == *parse_pod_list(yaml, kSystemd));
  CHECK(resource(parse_pod_list(json, kSystemd)->front().resources, "cpu").request == 500);
}

TEST_CASE("an empty list is no pods, a missing one is an error") {
  CHECK(parse_pod_list("{\"items\":[]}", kSystemd)->empty());
  CHECK(error_of("kind: PodList") == "items: expected a list, found nothing");
  CHECK(error_of("") == "the document is empty");
  CHECK(error_of("kind: Node\nitems: []") == "kind: expected 'PodList', found 'Node'");
}

TEST_CASE("a wrong field is named by its path") {
  std::string pod = "items: [{metadata: {uid: u, name: n}, ";
  CHECK(error_of("items: [{metadata: {name: n}}]") == "items[0].metadata.uid: expected text, found nothing");
  CHECK(error_of("items: 3") == "items: expected a list, found a number");
  CHECK(error_of("items: [{metadata: {uid: u, name: n, labels: {v: 1.10}}}]") ==
        "items[0].metadata.labels.v: expected text, found a number");
  CHECK(error_of(pod + "spec: {priority: x}}]") == "items[0].spec.priority: expected an integer, found text");
  CHECK(error_of(pod + "spec: {priority: 3000000000}}]") == "items[0].spec.priority: '3000000000' is out of range");
  CHECK(error_of(pod + "spec: {containers: [{name: a, resources: {requests: {cpu: 1x}}}]}}]") ==
        "items[0].spec.containers[0].resources.requests.cpu: '1x' is not a quantity such as '100m', '1.5Gi' "
        "or '2'");
  CHECK(error_of(pod + "spec: {overhead: {cpu: -1}}}]") == "items[0].spec.overhead.cpu: '-1' is negative");
  CHECK(
      error_of(pod + "status: {startTime: yesterday}}]").starts_with("items[0].status.startTime: 'yesterday' is not"));
}

TEST_CASE("a uid that would lead out of its directory is refused") {
  CHECK(error_of("items: [{metadata: {uid: \"../x\", name: n}}]") ==
        "items[0].metadata.uid: '../x' cannot be a directory's name");
}

TEST_CASE("hostile documents are refused") {
  CHECK_FALSE(parse_pod_list(std::string(100'000, '['), kSystemd));
  CHECK_FALSE(parse_pod_list("{\"items\":" + std::string(1000, '[') + std::string(1000, ']') + "}", kSystemd));
  CHECK_FALSE(parse_pod_list("items: &a [*a]", kSystemd));
  CHECK_FALSE(parse_pod_list("{\"items\": [}", kSystemd));
  CHECK_FALSE(parse_pod_list("items: [\n", kSystemd));
  CHECK_FALSE(parse_pod_list("items: []\n---\nitems: []\n", kSystemd));
  std::string laughs = "a: &l0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 10; ++i) {
    std::string last = "*l" + std::to_string(i - 1);
    laughs += "b" + std::to_string(i) + ": &l" + std::to_string(i) + " [" + last;
    for (int j = 0; j < 9; ++j) laughs += "," + last;
    laughs += "]\n";
  }
  CHECK(error_of(laughs).starts_with("aliases expand to more than 1000000 values at the document:"));
}

TEST_CASE("a NodeSLO is its spec as JSON") {
  CHECK(*parse_node_slo("kind: NodeSLO\nspec: {a: 65.5, b: '1', c: [true]}") == R"({"a":6.55E1,"b":"1","c":[true]})");
  CHECK(*parse_node_slo("resourceUsedThresholdWithBE: {enable: true}") ==
        R"({"resourceUsedThresholdWithBE":{"enable":true}})");
  CHECK(*parse_node_slo("kind: NodeSLO\nmetadata: {name: x}") == "{}");
  CHECK_FALSE(parse_node_slo("- 1"));
  CHECK_FALSE(parse_node_slo("spec: 3"));
}
