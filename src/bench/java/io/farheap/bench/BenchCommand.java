package io.farheap.bench;

import io.farheap.bench.ablation.BenchAblationCommand;
import io.farheap.bench.cache.BenchCacheCommand;
import io.farheap.bench.kv.BenchKvCommand;
import io.farheap.bench.manager.BenchManagerCommand;
import io.farheap.bench.migration.BenchMigrationCommand;
import io.farheap.bench.peers.BenchPeersCommand;
import io.farheap.bench.procedure.BenchProcedureCommand;
import io.farheap.bench.raw.BenchRawCommand;
import io.farheap.bench.reclaim.BenchReclaimCommand;
import io.farheap.bench.resilience.BenchResilienceCommand;
import io.farheap.bench.resize.BenchResizeCommand;
import io.farheap.bench.search.BenchSearchCommand;
import io.farheap.bench.slo.BenchSloCommand;
import io.farheap.bench.store.BenchStoreCommand;
import io.farheap.bench.ycsb.BenchYcsbCommand;
import io.farheap.command.Subcommand;
import picocli.CommandLine.Command;

/** {@code farheap bench}: measurements that compare, interleaved in one run. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        subcommands = {
            BenchRawCommand.class,
            BenchCacheCommand.class,
            BenchAblationCommand.class,
            BenchPeersCommand.class,
            BenchSearchCommand.class,
            BenchSloCommand.class,
            BenchMigrationCommand.class,
            BenchReclaimCommand.class,
            BenchResizeCommand.class,
            BenchManagerCommand.class,
            BenchKvCommand.class,
            BenchResilienceCommand.class,
            BenchProcedureCommand.class,
            BenchYcsbCommand.class,
            BenchStoreCommand.class,
        },
        description = "Measure, against a baseline in the same run.")
public final class BenchCommand implements Subcommand {}
