// SPDX-License-Identifier: Apache-2.0
// The QoS and priority class of a pod: from its labels, and by default without them. Pure.
#pragma once

#include "core/state/pod.hpp"

namespace koord::state {

inline constexpr std::string_view kQosLabel = "koordinator.sh/qosClass";
inline constexpr std::string_view kPriorityClassLabel = "koordinator.sh/priority-class";

// The label's value; else Guaranteed is LSR, Burstable LS, BestEffort BE, unknown none.
KoordQos koord_qos(const StringMap& labels, KubeQos kube_qos);

// The label's value; without the label by the range of the priority (prod 9000…9999, mid 7000…7999, batch 5000…5999,
// free 3000…3999). When neither says, or the label has another value: prod for all but best effort, which is batch. As
// koordlet.
PriorityClass priority_class(const StringMap& labels, std::int32_t priority, KoordQos qos);

// The class that Kubernetes computes from requests and limits of cpu and memory when status.qosClass is empty: from
// those of the whole pod if it states them (`stated`), else from those of each container.
KubeQos kube_qos_of(const std::vector<Container>& containers, const std::vector<Resource>& stated = {});

}  // namespace koord::state
