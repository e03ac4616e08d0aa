/**
 * Two builds of Farheap compared on one machine: whole runs of one benchmark, taking turns, their rows matched and
 * their figures divided. It knows reports as JSON alone, since the other build's classes are not here; what a
 * benchmark's fields mean, the benchmark says.
 */
@NullMarked
package io.farheap.bench.against;

import org.jspecify.annotations.NullMarked;
