/**
 * What all benchmarks' reports share: one JSON object, the figures of tables as rows, plots, and their origin; and the
 * rules for figures.
 *
 * <ul>
 *   <li>The order of sides rotates from turn to turn ({@link io.farheap.bench.report.Rotation}).
 *   <li>Sides warm up until three turns of each agree within 5%, or their row says that they did not
 *       ({@link io.farheap.bench.report.TurnWarmUp}; {@link io.farheap.bench.report.Turns} does both).
 *   <li>A figure is a median, with its quartiles ({@link io.farheap.bench.report.Samples}); a ratio is of medians, to
 *       the best other side ({@link io.farheap.bench.report.MedianRatio}).
 *   <li>With a NIC model, over 1% late operations of any process make a row invalid, and it has no ratio; a row of
 *       READs alone says that it was not judged ({@link io.farheap.bench.report.ModelLateness},
 *       {@link io.farheap.bench.report.Validity}).
 *   <li>Each row with a peer has the means of its sides ({@link io.farheap.bench.report.SideSetup}), and each report
 *       states the clock's cost and coordinated omission ({@link io.farheap.bench.report.TimingNote}).
 * </ul>
 */
@NullMarked
package io.farheap.bench.report;

import org.jspecify.annotations.NullMarked;
