/**
 * What every benchmark's report shares: one JSON object, tables' figures as rows, plots, and what they were taken on.
 */
@NullMarked
package io.farheap.bench.report;

import org.jspecify.annotations.NullMarked;
