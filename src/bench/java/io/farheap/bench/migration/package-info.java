/**
 * {@code bench migration}: how a load is affected by regions that move. Begin with
 * {@link io.farheap.bench.migration.BenchMigrationCommand}.
 */
@NullMarked
package io.farheap.bench.migration;

import org.jspecify.annotations.NullMarked;
