/**
 * What every benchmark's report shares: one JSON object, tables' figures as rows, plots, and what they were taken on.
 */
package io.farheap.bench.report;
