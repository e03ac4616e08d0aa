/**
 * {@code farheap bench}: measurements beside a baseline in the same run. It is in the executable jar alone. What it
 * measures of the library from inside stands in packages of the library: {@code io.farheap.verbs.RawLoop},
 * {@code io.farheap.slo.SimulatedSystem}.
 */
@NullMarked
package io.farheap.bench;

import org.jspecify.annotations.NullMarked;
