/**
 * {@code farheap bench}: measurements beside a baseline in the same run. It is only in the executable jar. Classes that
 * measure the library from inside are in packages of the library: {@code io.farheap.verbs.RawLoop},
 * {@code io.farheap.slo.SimulatedSystem}.
 */
@NullMarked
package io.farheap.bench;

import org.jspecify.annotations.NullMarked;
