/**
 * From an objective for latency and throughput to the cheapest configuration that meets it (Redy, sections 5.1 and
 * 5.2): the space of configurations, a performance model that is measured at few of them and interpolated between, the
 * file that keeps it, and the search. This package knows no cache and no device: {@code measure} measures the
 * configurations of the plan.
 */
@NullMarked
package io.farheap.slo;

import org.jspecify.annotations.NullMarked;
