/**
 * {@code bench migration}: what a load notices of regions that move. Begin with
 * {@link io.farheap.bench.migration.BenchMigrationCommand}.
 */
@NullMarked
package io.farheap.bench.migration;

import org.jspecify.annotations.NullMarked;
