// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/schema.hpp"

namespace koord::aggregated {
namespace {

using enum FieldType;

constexpr Field kTextItem[] = {{"", text}};
constexpr Field kQuantityItem[] = {{"", quantity}};

constexpr Field kTopology[] = {
    {"socketID", int32, "", {}, true},
    {"nodeID", int32, "", {}, true},
    {"pcieID", text, "", {}, true},
    {"busID", text},
};
constexpr Field kVirtualFunction[] = {{"minor", int32, "", {}, true}, {"busID", text}};
constexpr Field kVirtualFunctionItem[] = {{"", object, "", kVirtualFunction}};
constexpr Field kFunctionGroup[] = {{"labels", map, "", kTextItem}, {"vfs", list, "", kVirtualFunctionItem}};
constexpr Field kFunctionGroupItem[] = {{"", object, "", kFunctionGroup}};
constexpr Field kCondition[] = {
    {"type", text, "", {}, true},
    {"status", text, "", {}, true},
    {"reason", text, "", {}, true},
    {"message", text, "", {}, true},
    {"lastTransitionTime", FieldType::time, "", {}, true},
    {"observedGeneration", int64},
};
constexpr Field kConditionItem[] = {{"", object, "", kCondition}};
constexpr Field kDevice[] = {
    {"id", text, "UUID of the device."},
    {"type", text},
    {"minor", int32},
    {"moduleID", int32},
    {"health", boolean, "Answer of the driver.", {}, true},
    {"labels", map, "", kTextItem},
    {"resources", map, "Usage of the device by resource.", kQuantityItem},
    {"topology", object, "", kTopology},
    {"vfGroups", list, "", kFunctionGroupItem},
    {"conditions", list, "", kConditionItem},
};
constexpr Field kDeviceItem[] = {{"", object, "", kDevice}};
constexpr Field kUsage[] = {
    {"resources", map, "Usage by resource: cpu in cores, memory in bytes.", kQuantityItem},
    {"devices", list, "Usage of devices.", kDeviceItem},
};
constexpr Field kUsageItem[] = {{"", object, "", kUsage}};
constexpr Field kAggregated[] = {
    {"duration", duration, "Length of the window."},
    {"usage", map,
     "Usage by statistic: avg, p50, p90, p95 and p99. Empty while there are samples of less than half the window.",
     kUsageItem},
};
constexpr Field kAggregatedItem[] = {{"", object, "", kAggregated}};
constexpr Field kNuma[] = {
    {"numaNodeID", int32, "", {}, true},
    {"nodeUsage", object, "Usage of the NUMA node.", kUsage},
    {"systemUsage", object, "Usage outside of pods.", kUsage},
};
constexpr Field kNumaItem[] = {{"", object, "", kNuma}};
constexpr Field kNodeMetric[] = {
    {"nodeUsage", object, "Usage of the whole node.", kUsage},
    {"aggregatedNodeUsages", list, "Usage of the node over windows.", kAggregatedItem},
    {"systemUsage", object, "Usage outside of pods and host applications.", kUsage},
    {"aggregatedSystemUsages", list, "Usage outside of pods over windows.", kAggregatedItem},
    {"numaUsages", list, "Usage by NUMA node.", kNumaItem},
};

constexpr Field kPressure[] = {
    {"schedulingDelaySeconds", number, "Time in which threads of the pod were runnable and did not run, per second."},
    {"memoryStallSeconds", number, "Time in which threads of the pod waited for memory, per second."},
    {"memoryReclaims", number, "Direct reclaims of memory by the pod, per second."},
    {"ioStallSeconds", number, "Time in which threads of the pod waited for I/O, per second."},
};
constexpr Field kSuspect[] = {
    {"kind", text, "subject, outside, kernel or other."},
    {"name", text, "Namespace, pod and container of the suspect."},
    {"share", number, "Part of all waits, 0 to 1."},
};
constexpr Field kSuspectItem[] = {{"", object, "", kSuspect}};
constexpr Field kInterference[] = {
    {"container", text, "Name of the container that is held up; empty: the pod."},
    {"resource", text, "cpu, blkio, memory or cache."},
    {"kind", text, "interfered, self-quota, self-threads, self-memory-limit, shared-parent or unknown."},
    {"method", text, "exact, estimated or suspected."},
    {"severity", number, "Times the threshold."},
    {"since", FieldType::time, "When the verdict was posted first."},
    {"suspects", list, "Users of the resource, the largest first.", kSuspectItem},
};
constexpr Field kInterferenceItem[] = {{"", object, "", kInterference}};
constexpr Field kPod[] = {
    {"name", text},
    {"namespace", text},
    {"podUsage", object, "Usage of the pod.", kUsage},
    {"priority", text, "Koordinator's priority class."},
    {"qos", text, "Koordinator's QoS class."},
    {"extensions", anything},
    {"pressure", object, "Time that the pod lost to a lack of resources.", kPressure},
    {"interference", list, "Verdicts of interference that stand for the pod.", kInterferenceItem},
};
constexpr Field kPodItem[] = {{"", object, "", kPod}};
constexpr Field kApplication[] = {
    {"name", text},
    {"usage", object, "Usage of the host application.", kUsage},
    {"priority", text},
    {"qos", text},
};
constexpr Field kApplicationItem[] = {{"", object, "", kApplication}};
constexpr Field kPrediction[] = {{"resource", object, "Predicted amount.", kUsage}};
constexpr Field kStatus[] = {
    {"updateTime", FieldType::time, "When the agent made this report."},
    {"reportIntervalSeconds", int32, "Time until the agent's next report."},
    {"nodeMetric", object, "Usage of the node.", kNodeMetric},
    {"podsMetric", list, "Usage of each pod.", kPodItem},
    {"hostApplicationMetric", list, "Usage of each host application.", kApplicationItem},
    {"prodReclaimableMetric", object, "Requests of prod pods that are predicted to stay unused.", kPrediction},
    {"prodPeakMetric", object, "Predicted peak of prod pods.", kPrediction},
    {"conditions", list, "Fresh: whether the report is current.", kConditionItem},
};

constexpr Field kAggregatePolicy[] = {{"durations", list, "Windows of the aggregated usages, such as 5m.", kTextItem}};
constexpr Field kCollectPolicy[] = {
    {"aggregateDurationSeconds", int64, "Window of the usages."},
    {"reportIntervalSeconds", int64, "Least time between two reports."},
    {"nodeAggregatePolicy", object, "", kAggregatePolicy},
    {"nodeMemoryCollectPolicy", text, "usageWithoutPageCache, usageWithHotPageCache or usageWithPageCache."},
};
constexpr Field kSpec[] = {{"metricCollectPolicy", object, "How the agent reports.", kCollectPolicy}};

constexpr Field kSpecSchema = {"spec", object, "Rules of the agent's reports.", kSpec};
constexpr Field kStatusSchema = {"status", object, "The newest report of the node's agent.", kStatus};

}  // namespace

const Field& spec_schema() { return kSpecSchema; }
const Field& status_schema() { return kStatusSchema; }

}  // namespace koord::aggregated
