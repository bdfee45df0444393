// SPDX-License-Identifier: Apache-2.0

package koordetector

/*
#include "call.h"

static inline koord_go_answer metrics_define(const koord_host *host, const koord_svc_metrics *metrics, uint32_t type,
                                             uint32_t flags, _GoString_ name, _GoString_ unit, _GoString_ help,
                                             double resolution, const double *bounds, uint32_t n_bounds) {
  const koord_metric_desc desc = {sizeof desc,         type,                flags,               n_bounds,
                                  KOORD_GO_TEXT(name), KOORD_GO_TEXT(unit), KOORD_GO_TEXT(help), resolution, bounds};
  uint32_t metric = 0;
  koord_status status = KOORD_GO_CALL(metrics, define, host, &desc, &metric);
  return (koord_go_answer){status, metric};
}
static inline koord_go_answer metrics_series(const koord_host *host, const koord_svc_metrics *metrics, uint32_t metric,
                                             uint64_t subject, const koord_label *labels, uint32_t n) {
  koord_go_answer answer = {0, 0};
  answer.status =
      KOORD_GO_CALL(metrics, series, host, metric, subject, labels, n, sizeof(koord_label), &answer.value);
  return answer;
}
static inline koord_status metrics_end_series(const koord_host *host, const koord_svc_metrics *metrics, uint64_t series) {
  return KOORD_GO_CALL(metrics, end_series, host, series);
}
static inline koord_status metrics_append(const koord_host *host, const koord_svc_metrics *metrics, uint64_t t_ns,
                                          const koord_point *points, uint32_t n) {
  return KOORD_GO_CALL(metrics, append, host, t_ns, points, n, sizeof(koord_point));
}
static inline koord_status metrics_append_histograms(const koord_host *host, const koord_svc_metrics *metrics,
                                                     uint64_t t_ns, const koord_histogram *histograms, uint32_t n) {
  return KOORD_GO_CALL(metrics, append_histograms, host, t_ns, histograms, n, sizeof(koord_histogram));
}
static inline koord_go_answer metrics_aggregate(const koord_host *host, const koord_svc_metrics *metrics,
                                                const koord_query *query, koord_agg_row *rows, uint32_t cap) {
  uint32_t need = 0;
  koord_status status = KOORD_GO_CALL(metrics, aggregate, host, query, rows, cap, sizeof(koord_agg_row), &need);
  return (koord_go_answer){status, need};
}
static inline koord_go_answer metrics_samples(const koord_host *host, const koord_svc_metrics *metrics,
                                              const koord_query *query, koord_sample *samples, uint32_t cap) {
  uint32_t need = 0;
  koord_status status = KOORD_GO_CALL(metrics, samples, host, query, samples, cap, sizeof(koord_sample), &need);
  return (koord_go_answer){status, need};
}
*/
import "C"

// Metrics is the service koord.metrics/1.
type Metrics struct {
	service[C.koord_svc_metrics]
}

// MetricType is the kind of a metric's values.
type MetricType uint32

// The types of metrics.
const (
	Gauge     MetricType = C.KOORD_GAUGE
	Counter   MetricType = C.KOORD_COUNTER   // appended as the running total
	Histogram MetricType = C.KOORD_HISTOGRAM // appended as running totals
)

// MetricSpec is the definition of a metric.
type MetricSpec struct {
	Type       MetricType
	Name       string  // includes the unit, as in Prometheus: "acme_wait_seconds"
	Unit, Help string  // "seconds", "bytes", …; one sentence
	Resolution float64 // the smallest relevant step, in Unit; 0 means 1
	Bounds     []float64
	Hidden     bool // not on /metrics
}

// Metric is a defined metric. It creates series.
type Metric struct {
	metrics Metrics
	id      C.uint32_t
}

// Series identifies a series, to which samples are appended.
type Series uint64

// Subject identifies the subject of a series: the handle of a pod or a container, or NoSubject.
type Subject uint64

// NoSubject is the subject of a series that belongs to the node, or that only its labels describe.
const NoSubject Subject = C.KOORD_NO_SUBJECT

// Gauge defines a metric that rises and falls.
func (m Metrics) Gauge(name, unit, help string) (Metric, error) {
	return m.Define(MetricSpec{Type: Gauge, Name: name, Unit: unit, Help: help})
}

// Counter defines a metric that only grows.
func (m Metrics) Counter(name, unit, help string) (Metric, error) {
	return m.Define(MetricSpec{Type: Counter, Name: name, Unit: unit, Help: help})
}

// Histogram defines a metric with counts up to given bounds, which ascend and do not include +Inf.
func (m Metrics) Histogram(name, unit, help string, bounds ...float64) (Metric, error) {
	return m.Define(MetricSpec{Type: Histogram, Name: name, Unit: unit, Help: help, Bounds: bounds})
}

// Define defines a metric. It is idempotent. ErrInvalid: a different plugin has defined the name.
func (m Metrics) Define(spec MetricSpec) (Metric, error) {
	flags := C.uint32_t(C.KOORD_METRIC_EXPORT)
	if spec.Hidden {
		flags = 0
	}
	if spec.Resolution == 0 {
		spec.Resolution = 1
	}
	answer := C.metrics_define(m.host, m.table, C.uint32_t(spec.Type), flags, spec.Name, spec.Unit, spec.Help,
		C.double(spec.Resolution), (*C.double)(first(spec.Bounds)), C.uint32_t(len(spec.Bounds)))
	return Metric{m, C.uint32_t(answer.value)}, check(answer.status)
}

// Series returns the series with this subject and these labels. It is idempotent. The host ends the series with its
// subject.
func (m Metric) Series(subject Subject, labels Labels) (Series, error) {
	var l loan
	defer l.end()
	raw := l.labels(labels)
	answer := C.metrics_series(m.metrics.host, m.metrics.table, m.id, C.uint64_t(subject), first(raw), C.uint32_t(len(raw)))
	return Series(answer.value), check(answer.status)
}

// EndSeries ends a series before its subject does.
func (m Metrics) EndSeries(series Series) error {
	return check(C.metrics_end_series(m.host, m.table, C.uint64_t(series)))
}

// Batch collects the points of one moment: Add all, then Send once. Keep it between ticks, because it reuses its
// memory.
type Batch struct {
	metrics    Metrics
	points     []C.koord_point
	histograms []histogram
}

type histogram struct {
	series     Series
	cumulative []uint64
	sum        float64
}

// Batch returns an empty batch.
func (m Metrics) Batch() *Batch { return &Batch{metrics: m} }

// Add adds a value; NaN means no value this time.
func (b *Batch) Add(series Series, value float64) {
	b.points = append(b.points, C.koord_point{C.uint64_t(series), C.double(value)})
}

// AddHistogram adds a histogram. `cumulative` has one count for each bound, up to that bound, and the total count at
// the end.
func (b *Batch) AddHistogram(series Series, cumulative []uint64, sum float64) {
	b.histograms = append(b.histograms, histogram{series, cumulative, sum})
}

// Send appends all points with one time. After the call the batch is empty, even if the call failed.
func (b *Batch) Send(at Time) error {
	err := check(C.metrics_append(b.metrics.host, b.metrics.table, C.uint64_t(at), first(b.points), C.uint32_t(len(b.points))))
	if failed := b.sendHistograms(at); err == nil {
		err = failed
	}
	b.points, b.histograms = b.points[:0], b.histograms[:0]
	return err
}

func (b *Batch) sendHistograms(at Time) error {
	if len(b.histograms) == 0 {
		return nil
	}
	var l loan
	defer l.end()
	raw := lend[C.koord_histogram](&l, len(b.histograms))
	for i, one := range b.histograms {
		counts := lend[C.uint64_t](&l, len(one.cumulative))
		for j, count := range one.cumulative {
			counts[j] = C.uint64_t(count)
		}
		raw[i] = C.koord_histogram{series: C.uint64_t(one.series), cumulative: first(counts),
			n: C.uint32_t(len(counts)), sum: C.double(one.sum)}
	}
	return check(C.metrics_append_histograms(b.metrics.host, b.metrics.table, C.uint64_t(at), first(raw), C.uint32_t(len(raw))))
}

// Aggregation is a function over the samples of a window.
type Aggregation uint32

// The aggregations.
const (
	Last  Aggregation = C.KOORD_AGG_LAST
	Avg   Aggregation = C.KOORD_AGG_AVG
	Min   Aggregation = C.KOORD_AGG_MIN
	Max   Aggregation = C.KOORD_AGG_MAX
	Count Aggregation = C.KOORD_AGG_COUNT
	P50   Aggregation = C.KOORD_AGG_P50
	P90   Aggregation = C.KOORD_AGG_P90
	P95   Aggregation = C.KOORD_AGG_P95
	P99   Aggregation = C.KOORD_AGG_P99
)

// Query is a query of the metric cache.
type Query struct {
	Metric      string
	Aggregation Aggregation // ignored by Samples
	From, To    Time        // inclusive; To 0 means now
	Subject     Subject     // NoSubject: every subject
	Labels      Labels      // all must match; none: every series of the metric
}

func (q Query) raw(l *loan) *C.koord_query {
	labels := l.labels(q.Labels)
	raw := &lend[C.koord_query](l, 1)[0]
	*raw = C.koord_query{struct_size: C.sizeof_koord_query, aggregation: C.uint32_t(q.Aggregation), metric: l.text(q.Metric),
		from_ns: C.uint64_t(q.From), to_ns: C.uint64_t(q.To), subject: C.uint64_t(q.Subject), labels: first(labels),
		n_labels: C.uint32_t(len(labels)), label_stride: C.sizeof_koord_label}
	return raw
}

// Row is the result for one series. A series without a sample in the window has no row.
type Row struct {
	Subject  Subject
	Series   Series // 0: the series has ended, but its history still exists
	Value    float64
	Count    uint64 // samples in the window
	From, To Time   // times of the first and last sample
}

// Sample is one value of one series.
type Sample struct {
	At     Time
	Series Series
	Value  float64
}

// Aggregate returns one row for each series. Query all subjects of a metric with one call, not each pod.
func (m Metrics) Aggregate(query Query) ([]Row, error) {
	var l loan
	defer l.end()
	raw := query.raw(&l)
	rows, err := filled(nil, func(rows []C.koord_agg_row) C.koord_go_answer {
		return C.metrics_aggregate(m.host, m.table, raw, &rows[0], C.uint32_t(len(rows)))
	})
	return records(first(rows), C.uint32_t(len(rows)), C.sizeof_koord_agg_row, func(r *C.koord_agg_row) Row {
		return Row{Subject(r.subject), Series(r.series), float64(r.value), uint64(r.count), Time(r.from_ns), Time(r.to_ns)}
	}), err
}

// Samples returns the samples themselves.
func (m Metrics) Samples(query Query) ([]Sample, error) {
	var l loan
	defer l.end()
	raw := query.raw(&l)
	samples, err := filled(nil, func(samples []C.koord_sample) C.koord_go_answer {
		return C.metrics_samples(m.host, m.table, raw, &samples[0], C.uint32_t(len(samples)))
	})
	return records(first(samples), C.uint32_t(len(samples)), C.sizeof_koord_sample, func(s *C.koord_sample) Sample {
		return Sample{Time(s.t_ns), Series(s.series), float64(s.value)}
	}), err
}
