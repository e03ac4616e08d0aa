package io.farheap.tier.tiered;

import io.farheap.lifetime.Closeables;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.handle.OwnedMemory;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Memory that is registered with a {@link io.farheap.tier.TieredDevice}, and so with each of its tiers. */
public final class TieredMemory extends OwnedMemory {

    private final Consumer<TieredMemory> release;
    /** Indexed by the tier's id. An element is written before a handle sees its tier. */
    private final @Nullable DeviceMemory[] parts = new DeviceMemory[Tier.IDS];

    /** @param release called when the memory is to be freed; it calls {@link #removeAll} while tiers cannot change */
    TieredMemory(Registry registry, MemorySegment memory, Consumer<TieredMemory> release) {
        super(registry, memory);
        this.release = release;
    }

    void add(Tier tier) {
        parts[tier.id] = tier.device.register(segment());
    }

    void remove(Tier tier) {
        DeviceMemory part = parts[tier.id];
        if (part != null) {
            parts[tier.id] = null;
            part.close();
        }
    }

    DeviceMemory part(int id) {
        DeviceMemory part = parts[id];
        assert part != null;
        return part;
    }

    void removeAll() {
        Closeables.all(parts);
    }

    @Override
    protected void free() {
        release.accept(this);
    }
}
