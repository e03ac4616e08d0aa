/** What all benchmarks' reports share: one JSON object, the figures of tables as rows, plots, and their origin. */
@NullMarked
package io.farheap.bench.report;

import org.jspecify.annotations.NullMarked;
