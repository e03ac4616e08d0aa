/**
 * Properties of the machine that benchmarks need: the clock's cost, the speed of a copy, a core, a directory on its
 * disk.
 */
@NullMarked
package io.farheap.bench.machine;

import org.jspecify.annotations.NullMarked;
