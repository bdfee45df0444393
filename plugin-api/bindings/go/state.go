// SPDX-License-Identifier: Apache-2.0

package koordetector

/*
#include "call.h"

typedef struct koord_go_pods {
  const koord_pod *first;
  uint32_t n, stride;
} koord_go_pods;
typedef struct koord_go_containers {
  const koord_container *first;
  uint32_t n, stride;
} koord_go_containers;

static inline koord_status state_acquire(const koord_host *host, const koord_svc_state *state,
                                         const koord_snapshot **snapshot) {
  return KOORD_GO_CALL(state, acquire, host, snapshot);
}
static inline void state_release(const koord_host *host, const koord_svc_state *state, const koord_snapshot *snapshot) {
  if (KOORD_HAS(state, release)) state->release(host, snapshot);
}
static inline uint64_t state_version(const koord_svc_state *state, const koord_snapshot *snapshot, uint32_t part) {
  return KOORD_HAS(state, version) ? state->version(snapshot, part) : 0;
}
static inline const koord_node *state_node(const koord_svc_state *state, const koord_snapshot *snapshot) {
  return KOORD_HAS(state, node) ? state->node(snapshot) : NULL;
}
static inline koord_go_pods state_pods(const koord_svc_state *state, const koord_snapshot *snapshot) {
  koord_go_pods pods = {NULL, 0, 0};
  if (KOORD_HAS(state, pods)) pods.first = state->pods(snapshot, &pods.n, &pods.stride);
  return pods;
}
static inline koord_go_containers state_containers(const koord_svc_state *state, const koord_snapshot *snapshot) {
  koord_go_containers containers = {NULL, 0, 0};
  if (KOORD_HAS(state, containers))
    containers.first = state->containers(snapshot, &containers.n, &containers.stride);
  return containers;
}
static inline const koord_topology *state_topology(const koord_svc_state *state, const koord_snapshot *snapshot) {
  return KOORD_HAS(state, topology) ? state->topology(snapshot) : NULL;
}
static inline koord_str state_node_slo(const koord_svc_state *state, const koord_snapshot *snapshot) {
  return KOORD_HAS(state, node_slo) ? state->node_slo(snapshot) : (koord_str){NULL, 0};
}
static inline koord_go_answer state_processes(const koord_host *host, const koord_svc_state *state, uint64_t subject,
                                              int32_t *pids, uint32_t cap) {
  uint32_t need = 0;
  koord_status status = KOORD_GO_CALL(state, processes, host, subject, pids, cap, &need);
  return (koord_go_answer){status, need};
}
static inline koord_status state_subscribe(const koord_host *host, const koord_svc_state *state, uint32_t parts) {
  return KOORD_GO_CALL(state, subscribe, host, parts);
}
*/
import "C"

import "time"

// State is the service koord.state/1.
type State struct{ service[C.koord_svc_state] }

// Parts of the state; several are or-ed.
type Parts uint32

// The parts.
const (
	OnNode     Parts = C.KOORD_ON_NODE
	OnPods     Parts = C.KOORD_ON_PODS
	OnNodeSLO  Parts = C.KOORD_ON_NODE_SLO
	OnTopology Parts = C.KOORD_ON_TOPOLOGY
	OnConfig   Parts = C.KOORD_ON_CONFIG   // only in OnEvent: this instance's configuration has changed
	OnVerdicts Parts = C.KOORD_ON_VERDICTS // only in OnEvent, after Verdicts.Subscribe
)

// Snapshot returns the newest snapshot. Close it after use. ErrAgain: the state is not known yet, which does not mean
// "no pods".
func (s State) Snapshot() (*Snapshot, error) {
	snapshot := &Snapshot{state: s}
	if err := check(C.state_acquire(s.host, s.table, &snapshot.raw)); err != nil {
		return nil, err
	}
	return snapshot, nil
}

// Subscribe requests OnEvent calls for changes of these parts. It replaces the previous subscription.
func (s State) Subscribe(parts Parts) error {
	return check(C.state_subscribe(s.host, s.table, C.uint32_t(parts)))
}

// Processes returns the ids of all processes in the cgroup of a pod or container and in its descendants, ascending.
// The subject is a handle from the newest snapshot. ErrGone: it has ended. ErrAgain: its cgroup is not known yet.
// ErrUnsupported: the agent cannot see the node's processes, or is older than 1.1.
func (s State) Processes(subject Subject) ([]int32, error) {
	pids, err := filled(nil, func(pids []C.int32_t) C.koord_go_answer {
		return C.state_processes(s.host, s.table, C.uint64_t(subject), &pids[0], C.uint32_t(len(pids)))
	})
	return records(first(pids), C.uint32_t(len(pids)), C.sizeof_int32_t, func(pid *C.int32_t) int32 { return int32(*pid) }), err
}

// Snapshot is the immutable state at one moment. Its methods return copies, which remain valid after Close.
type Snapshot struct {
	state State
	raw   *C.koord_snapshot
}

// Close returns the snapshot to the host. Call nothing else on it after that.
func (s *Snapshot) Close() {
	if s.raw != nil {
		C.state_release(s.state.host, s.state.table, s.raw)
		s.raw = nil
	}
}

// Version returns the version of one part; 0: not known yet. Copy a part when its version has changed, not at every
// tick.
func (s *Snapshot) Version(part Parts) uint64 {
	return uint64(C.state_version(s.state.table, s.raw, C.uint32_t(part)))
}

// Node returns nil while the node is unknown.
func (s *Snapshot) Node() *Node {
	raw := C.state_node(s.state.table, s.raw)
	if raw == nil {
		return nil
	}
	return &Node{
		Name:        text(raw.name),
		Labels:      labels(raw.labels, raw.n_labels, raw.label_stride),
		Annotations: labels(raw.annotations, raw.n_annotations, raw.label_stride),
		Resources:   records(raw.resources, raw.n_resources, raw.resource_stride, copiedResource),
	}
}

// Pods returns the pods of the node.
func (s *Snapshot) Pods() []Pod {
	pods := C.state_pods(s.state.table, s.raw)
	return records(pods.first, pods.n, pods.stride, copiedPod)
}

// Containers returns containers outside of pods: docker, podman, systemd services, cgroups named in the configuration.
func (s *Snapshot) Containers() []Container {
	containers := C.state_containers(s.state.table, s.raw)
	return records(containers.first, containers.n, containers.stride, copiedContainer)
}

// Topology returns nil while it is unknown.
func (s *Snapshot) Topology() *Topology {
	raw := C.state_topology(s.state.table, s.raw)
	if raw == nil {
		return nil
	}
	return &Topology{
		CPUs:      records(raw.cpus, raw.n_cpus, raw.cpu_stride, copiedCPU),
		NUMANodes: records(raw.numa_nodes, raw.n_numa_nodes, raw.numa_node_stride, copiedNUMANode),
	}
}

// NodeSLO returns the merged spec as JSON; empty if missing.
func (s *Snapshot) NodeSLO() string { return text(C.state_node_slo(s.state.table, s.raw)) }

// QoS is the class of a pod by its label koordinator.sh/qosClass.
type QoS uint32

// The classes of QoS.
const (
	QoSNone   QoS = C.KOORD_QOS_NONE
	QoSLSE    QoS = C.KOORD_QOS_LSE
	QoSLSR    QoS = C.KOORD_QOS_LSR
	QoSLS     QoS = C.KOORD_QOS_LS
	QoSBE     QoS = C.KOORD_QOS_BE
	QoSSystem QoS = C.KOORD_QOS_SYSTEM
)

// KubeQoS is the Kubernetes QoS class of a pod.
type KubeQoS uint32

// Kubernetes' classes.
const (
	KubeQoSUnknown    KubeQoS = C.KOORD_KUBE_QOS_UNKNOWN
	KubeQoSGuaranteed KubeQoS = C.KOORD_KUBE_QOS_GUARANTEED
	KubeQoSBurstable  KubeQoS = C.KOORD_KUBE_QOS_BURSTABLE
	KubeQoSBestEffort KubeQoS = C.KOORD_KUBE_QOS_BEST_EFFORT
)

// PriorityClass is the priority class of a pod.
type PriorityClass uint32

// The classes of priority.
const (
	PriorityNone  PriorityClass = C.KOORD_PRIORITY_NONE
	PriorityProd  PriorityClass = C.KOORD_PRIORITY_PROD
	PriorityMid   PriorityClass = C.KOORD_PRIORITY_MID
	PriorityBatch PriorityClass = C.KOORD_PRIORITY_BATCH
	PriorityFree  PriorityClass = C.KOORD_PRIORITY_FREE
)

// Phase is the phase of a pod.
type Phase uint32

// The phases.
const (
	PhaseUnknown   Phase = C.KOORD_PHASE_UNKNOWN
	PhasePending   Phase = C.KOORD_PHASE_PENDING
	PhaseRunning   Phase = C.KOORD_PHASE_RUNNING
	PhaseSucceeded Phase = C.KOORD_PHASE_SUCCEEDED
	PhaseFailed    Phase = C.KOORD_PHASE_FAILED
)

// ContainerKind is the purpose of a container.
type ContainerKind uint32

// The kinds of containers.
const (
	RegularContainer   ContainerKind = C.KOORD_CONTAINER_REGULAR
	InitContainer      ContainerKind = C.KOORD_CONTAINER_INIT
	SidecarContainer   ContainerKind = C.KOORD_CONTAINER_SIDECAR
	EphemeralContainer ContainerKind = C.KOORD_CONTAINER_EPHEMERAL
	SandboxContainer   ContainerKind = C.KOORD_CONTAINER_SANDBOX
	ServiceContainer   ContainerKind = C.KOORD_CONTAINER_SERVICE // a systemd service, outside of pods
	CgroupContainer    ContainerKind = C.KOORD_CONTAINER_CGROUP  // any cgroup that the configuration names
)

// ContainerState is the phase of a container.
type ContainerState uint32

// The states of containers.
const (
	ContainerUnknown    ContainerState = C.KOORD_CONTAINER_UNKNOWN
	ContainerWaiting    ContainerState = C.KOORD_CONTAINER_WAITING
	ContainerRunning    ContainerState = C.KOORD_CONTAINER_RUNNING
	ContainerTerminated ContainerState = C.KOORD_CONTAINER_TERMINATED
)

// Absent is the value of a quantity that is not set, or of a key that this kernel lacks.
const Absent int64 = C.KOORD_ABSENT

// Resource values are milli-units for CPU kinds, bytes for memory kinds, otherwise unchanged; or Absent.
type Resource struct {
	Name           string
	Request, Limit int64
}

func copiedResource(raw *C.koord_resource) Resource {
	return Resource{text(raw.name), int64(raw.request), int64(raw.limit)}
}

// Container of a pod, or outside of pods.
type Container struct {
	Handle    Subject
	Kind      ContainerKind
	State     ContainerState
	ID, Name  string // ID with its scheme: "containerd://<hex>"
	CgroupDir string // empty: not known yet
	Resources []Resource
}

func copiedContainer(raw *C.koord_container) Container {
	return Container{
		Handle:    Subject(raw.handle),
		Kind:      ContainerKind(raw.kind),
		State:     ContainerState(raw.state),
		ID:        text(raw.id),
		Name:      text(raw.name),
		CgroupDir: text(raw.cgroup_dir),
		Resources: records(raw.resources, raw.n_resources, raw.resource_stride, copiedResource),
	}
}

// Pod of the node.
type Pod struct {
	Handle                          Subject
	Phase                           Phase
	UID, Namespace, Name, CgroupDir string
	QoS                             QoS
	KubeQoS                         KubeQoS
	Priority                        int32
	PriorityClass                   PriorityClass
	StartTime                       time.Time // wall time; zero: not set
	OwnerKind, OwnerName            string
	Labels, Annotations             Labels
	Resources                       []Resource // sums over the containers
	Containers                      []Container
}

func copiedPod(raw *C.koord_pod) Pod {
	pod := Pod{
		Handle:        Subject(raw.handle),
		Phase:         Phase(raw.phase),
		UID:           text(raw.uid),
		Namespace:     text(raw.ns),
		Name:          text(raw.name),
		CgroupDir:     text(raw.cgroup_dir),
		QoS:           QoS(raw.qos),
		KubeQoS:       KubeQoS(raw.kube_qos),
		Priority:      int32(raw.priority),
		PriorityClass: PriorityClass(raw.priority_class),
		OwnerKind:     text(raw.owner_kind),
		OwnerName:     text(raw.owner_name),
		Labels:        labels(raw.labels, raw.n_labels, raw.label_stride),
		Annotations:   labels(raw.annotations, raw.n_annotations, raw.label_stride),
		Resources:     records(raw.resources, raw.n_resources, raw.resource_stride, copiedResource),
		Containers:    records(raw.containers, raw.n_containers, raw.container_stride, copiedContainer),
	}
	if int64(raw.start_time_ns) != Absent {
		pod.StartTime = time.Unix(0, int64(raw.start_time_ns))
	}
	return pod
}

// Node is the node itself. For its resources, the request is the allocatable amount and the limit is the capacity.
type Node struct {
	Name                string
	Labels, Annotations Labels
	Resources           []Resource
}

// Flags of a CPU; several are or-ed.
const (
	CPUOnline   uint32 = C.KOORD_CPU_ONLINE
	CPUReserved uint32 = C.KOORD_CPU_RESERVED
	CPUSystem   uint32 = C.KOORD_CPU_SYSTEM
	CPULSE      uint32 = C.KOORD_CPU_LSE
	CPULSR      uint32 = C.KOORD_CPU_LSR
	CPUPinned   uint32 = C.KOORD_CPU_PINNED
)

// CPU has the kernel's ids from sysfs; math.MaxUint32 means unknown.
type CPU struct{ ID, Core, Socket, NUMANode, L3, Flags uint32 }

func copiedCPU(raw *C.koord_cpu) CPU {
	return CPU{uint32(raw.cpu), uint32(raw.core), uint32(raw.socket), uint32(raw.numa_node), uint32(raw.l3), uint32(raw.flags)}
}

// NUMANode is a NUMA node with memory.
type NUMANode struct {
	ID          uint32
	MemoryBytes uint64
}

func copiedNUMANode(raw *C.koord_numa_node) NUMANode {
	return NUMANode{uint32(raw.id), uint64(raw.memory_bytes)}
}

// Topology is the CPUs and the memory of the node.
type Topology struct {
	CPUs      []CPU
	NUMANodes []NUMANode
}
