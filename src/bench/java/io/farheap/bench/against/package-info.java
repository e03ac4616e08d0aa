/**
 * Compares two builds of Farheap on one machine: whole runs of one benchmark in turns, of which rows are matched and
 * figures divided. It knows reports as JSON only, since the other build's classes are not loaded here; each benchmark
 * says what its fields mean.
 */
@NullMarked
package io.farheap.bench.against;

import org.jspecify.annotations.NullMarked;
