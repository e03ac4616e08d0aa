/**
 * From an objective for latency and throughput to the cheapest configuration that meets it (Redy, sections 5.1 and
 * 5.2): the space of configurations, a performance model measured at few of them and interpolated between, the file
 * that keeps it, and the search. It knows no cache and no device: {@code measure} measures what the plan asks for.
 */
@NullMarked
package io.farheap.slo;

import org.jspecify.annotations.NullMarked;
