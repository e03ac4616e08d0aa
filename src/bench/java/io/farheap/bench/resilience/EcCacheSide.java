package io.farheap.bench.resilience;

import io.farheap.remote.RemoteMemory;
import io.farheap.resilience.contract.Health;
import org.jspecify.annotations.Nullable;

/**
 * EC-Cache over RDMA (Hydra, FAST '22, sections 2.3 and 7): a random group of servers for each page, late binding, and
 * those parts of Hydra's fast coding that it is given. Nothing is checked, and lost data is not regenerated.
 */
final class EcCacheSide implements FarSide {

    private final RemoteMemory memory;
    private final PageLayout layout;
    private final RandomGroups groups;
    private final HydraParts parts;

    EcCacheSide(RemoteMemory memory, PageLayout layout, long bytes, HydraParts parts) {
        this.memory = memory;
        this.layout = layout;
        this.parts = parts;
        this.groups = new RandomGroups(
                memory, layout, Math.toIntExact(bytes / ((long) layout.dataSplits() * layout.slotBytes())));
    }

    @Override
    public FarMemoryClient open() {
        return EcCacheClient.open(memory, layout, groups, parts);
    }

    @Override
    public double memoryOverhead() {
        return (double) layout.splits() / layout.dataSplits();
    }

    @Override
    public @Nullable Health health() {
        return null;
    }

    @Override
    public void close() {
        groups.close();
    }
}
