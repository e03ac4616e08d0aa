/**
 * Measures a performance model ({@link io.farheap.slo}) on a live cache: load threads, windows until the figures are
 * settled, what the subject of the model is on this machine, and where its file is kept. Whoever needs models uses it:
 * a manager, a command, a benchmark.
 *
 * <p>It takes a memory server that is there, prints nothing and shows no progress: whoever measures passes an address
 * and is called back. What starts processes, has options, tables or plots is the command line's; what compares a
 * model's promises with what a cache does is a benchmark, in {@code src/bench}.
 */
@NullMarked
package io.farheap.measure;

import org.jspecify.annotations.NullMarked;
