{{- define "koordetector.name" -}}
{{- if .Values.nameOverride -}}
{{- .Values.nameOverride -}}
{{- else if contains "koordetector" .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-koordetector" .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "koordetector.selector" -}}
app.kubernetes.io/name: koordetector
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "koordetector.labels" -}}
{{ include "koordetector.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end -}}

{{- define "koordetector.serviceAccount" -}}
{{- default (include "koordetector.name" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "koordetector.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- /* The configuration that the pod's mounts require; .Values.config overrides it. */ -}}
{{- define "koordetector.ownConfig" -}}
listen:
  socket: /var/lib/koordetector/koordetector.sock
  {{- with .Values.metrics.tls }}
  {{- if .secretName }}
  tls:
    certFile: /etc/koordetector-tls/tls.crt
    keyFile: /etc/koordetector-tls/tls.key
    {{- if .clientCaKey }}
    clientCaFile: /etc/koordetector-tls/{{ .clientCaKey }}
    {{- end }}
    authorization: {{ .authorization }}
  {{- end }}
  {{- end }}
roots:
  sys: /host/sys
  cgroup: /host/sys/fs/cgroup
  resctrl: /host/sys/fs/resctrl
  {{- if .Values.kubelet.stateDirectory }}
  kubelet: /host/kubelet
  {{- end }}
featureGates: {{ toYaml .Values.featureGates | nindent 2 }}
plugins:
  ownDirectories: [/usr/lib/koordetector/own-plugins]
  directories: [/usr/lib/koordetector/plugins]
  settings:
    advisor-block-latency: {config: {marker: /var/lib/koordetector}}
    advisor-memory-latency: {config: {marker: /var/lib/koordetector}}
    advisor-interference: {config: {marker: /var/lib/koordetector}}
    advisor-sched-latency: {config: {marker: /var/lib/koordetector}}
predict:
  directory: /var/lib/koordetector/predictions
qos:
  directory: /var/lib/koordetector/qos
{{- if include "koordetector.manager.directReports" . }}
report:
  direct:
    enabled: true
    lease: {{ .Release.Namespace }}/{{ include "koordetector.manager.name" . }}
    caFile: /etc/koord-manager/{{ .Values.manager.tls.caKey }}
{{- end }}
state:
  apiserver:
    sloConfigMap: {{ include "koordetector.sloConfigMap" . | quote }}
  kubelet:
    port: {{ .Values.kubelet.port }}
    {{- if .Values.kubelet.caFile }}
    caFile: /etc/koordetector-kubelet/ca.crt
    {{- end }}
store:
  path: /var/lib/koordetector/metrics.db
{{- end -}}

{{- define "koordetector.sloConfigMap" -}}
{{- if .Values.sloConfigMap.name -}}
{{- printf "%s/%s" .Values.sloConfigMap.namespace .Values.sloConfigMap.name -}}
{{- end -}}
{{- end -}}

{{- define "koordetector.config" -}}
{{- toYaml (mergeOverwrite (fromYaml (include "koordetector.ownConfig" .)) (deepCopy .Values.config)) -}}
{{- end -}}

{{- define "koordetector.fineKubeletAccess" -}}
{{- if eq .Values.kubelet.access "fine" -}}
true
{{- else if and (eq .Values.kubelet.access "auto") (semverCompare ">=1.33.0-0" .Capabilities.KubeVersion.Version) -}}
true
{{- end -}}
{{- end -}}

{{- /* Tokens name the node of their pod since Kubernetes 1.30; the policy is v1 since then, too. */ -}}
{{- define "koordetector.admissionPolicy" -}}
{{- if eq .Values.admissionPolicy.create "always" -}}
true
{{- else if and (eq .Values.admissionPolicy.create "auto") (semverCompare ">=1.30.0-0" .Capabilities.KubeVersion.Version) -}}
true
{{- end -}}
{{- end -}}

{{- define "koordetector.recursiveReadOnly" -}}
{{- if ne .Values.cgroup.recursiveReadOnly "auto" -}}
{{- .Values.cgroup.recursiveReadOnly -}}
{{- else if semverCompare ">=1.31.0-0" .Capabilities.KubeVersion.Version -}}
IfPossible
{{- end -}}
{{- end -}}

{{- /* No rights, no writes, no writable root file system. */ -}}
{{- define "koordetector.bareSecurityContext" -}}
allowPrivilegeEscalation: false
capabilities:
  drop: [ALL]
readOnlyRootFilesystem: true
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- /* The profile grants the right to write knobs; the configuration decides whether they are written. */ -}}
{{- define "koordetector.writesKnobs" -}}
{{- $config := fromYaml (include "koordetector.config" .) -}}
{{- if eq (default "shadow" $config.qos.mode) "enforce" -}}
true
{{- end -}}
{{- range values $config.plugins.settings -}}
{{- if eq (default "" .mode) "enforce" -}}
true
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "koordetector.manager.name" -}}
{{- printf "%s-manager" (include "koordetector.name" . | trunc 55 | trimSuffix "-") -}}
{{- end -}}

{{- define "koordetector.manager.selector" -}}
app.kubernetes.io/name: koord-manager
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "koordetector.manager.labels" -}}
{{ include "koordetector.manager.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end -}}

{{- /* The aggregated API needs a certificate. */ -}}
{{- define "koordetector.manager.serves" -}}
{{- if and .Values.manager.enabled .Values.manager.tls.secretName -}}
true
{{- end -}}
{{- end -}}

{{- define "koordetector.manager.directReports" -}}
{{- if and (include "koordetector.manager.serves" .) .Values.manager.directReports -}}
true
{{- end -}}
{{- end -}}

{{- /* The authority of its certificate, for agents. */ -}}
{{- define "koordetector.manager.caConfigMap" -}}
{{- default (printf "%s-ca" (include "koordetector.manager.name" .)) .Values.manager.tls.caConfigMap -}}
{{- end -}}

{{- define "koordetector.manager.ownConfig" -}}
listen: ":{{ .Values.manager.metricsPort }}"
sloConfigMap: {{ .Values.sloConfigMap.namespace }}/{{ .Values.sloConfigMap.name }}
lease:
  namespace: {{ .Release.Namespace }}
  name: {{ include "koordetector.manager.name" . }}
{{- if include "koordetector.manager.serves" . }}
serve:
  address: ":{{ .Values.manager.port }}"
  certificateFile: /etc/koord-manager-tls/tls.crt
  keyFile: /etc/koord-manager-tls/tls.key
  agentUser: system:serviceaccount:{{ .Release.Namespace }}:{{ include "koordetector.serviceAccount" . }}
  service: {{ include "koordetector.manager.name" . }}
{{- end }}
{{- with .Values.manager.featureGates }}
featureGates:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "koordetector.manager.config" -}}
{{- toYaml (mergeOverwrite (fromYaml (include "koordetector.manager.ownConfig" .)) (deepCopy .Values.manager.config)) -}}
{{- end -}}
