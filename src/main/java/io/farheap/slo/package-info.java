/**
 * From an objective for latency and throughput to the cheapest configuration that meets it (Redy, sections 5.1 and
 * 5.2): the space of configurations, a performance model measured at few of them and interpolated between, the file
 * that keeps it, and searches. It knows no cache and no device: who measures is given as a
 * {@link io.farheap.slo.Measurement}.
 */
@NullMarked
package io.farheap.slo;

import org.jspecify.annotations.NullMarked;
