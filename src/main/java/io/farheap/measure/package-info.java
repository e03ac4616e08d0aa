/**
 * Measures a performance model ({@link io.farheap.slo}) on a live cache: load threads, windows until the figures are
 * settled, the subject of a model of this machine, and the directory of its file. A manager, a command and a benchmark
 * use it.
 *
 * <p>It uses an existing memory server, prints nothing and shows no progress: a caller passes an address and is called
 * back. Not here: starting processes, options, tables and plots, which belong to the command line; and the comparison
 * of a model's predictions with a cache's performance, which is a benchmark in {@code src/bench}.
 */
@NullMarked
package io.farheap.measure;

import org.jspecify.annotations.NullMarked;
