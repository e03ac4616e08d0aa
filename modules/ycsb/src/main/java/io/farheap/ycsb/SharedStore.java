package io.farheap.ycsb;

import io.farheap.cache.Cache;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.store.FarStore;
import io.farheap.store.FarStoreBuilder;
import io.farheap.tier.FarDevice;
import io.farheap.tier.FileDevice;
import io.farheap.tier.MemoryDevice;
import io.farheap.tier.TieredDevice;
import io.farheap.tier.device.Device;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The store that all threads of YCSB's client share: the first thread opens it, and the last one closes it, with a
 * checkpoint if it has files.
 */
final class SharedStore {

    private static final long SEGMENT_BYTES = 4 << 20;
    private static final int ALIGNMENT = 8;
    private static final int LONGEST_KEY = 256;
    private static final int PAGES = 32;
    private static final int LEAST_PAGE = 64 << 10;
    private static final int MOST_PAGE = 1 << 20;

    private static @Nullable SharedStore shared;

    private final CloseStack resources = new CloseStack();
    private final FarStore store;
    private int users;
    private boolean loaded;

    private SharedStore(StoreSettings settings) {
        try {
            FarStoreBuilder builder = FarStore.builder()
                    .device(resources.add(device(settings)))
                    .name("ycsb")
                    .memory(settings.memory())
                    .readCache(settings.readCache())
                    .pageBytes(Math.clamp(
                            Long.highestOneBit(Math.max(1, settings.memory() / PAGES)), LEAST_PAGE, MOST_PAGE))
                    .expectedKeys(settings.records())
                    .records(LONGEST_KEY, settings.valueBytes());
            if (settings.directory() != null) {
                builder.directory(settings.directory().resolve("checkpoints"));
            }
            store = resources.add(builder.open());
        } catch (Throwable e) {
            try (resources) {
                throw e;
            }
        }
    }

    private Device device(StoreSettings settings) {
        List<Device> tiers = new ArrayList<>();
        try {
            if (!settings.servers().isEmpty()) {
                Cache cache = resources.add(Cache.builder()
                        .capacity(settings.far())
                        .servers(settings.servers())
                        .name("ycsb")
                        .create());
                tiers.add(new FarDevice(cache, SEGMENT_BYTES));
            }
            Path directory = settings.directory();
            if (directory != null) {
                tiers.add(FileDevice.open(directory.resolve("log"), SEGMENT_BYTES));
            }
            return switch (tiers.size()) {
                case 0 -> new MemoryDevice(SEGMENT_BYTES, ALIGNMENT);
                case 1 -> tiers.getFirst();
                default -> new TieredDevice(tiers, 0);
            };
        } catch (Throwable e) {
            Closeables.after(e, tiers.toArray(AutoCloseable[]::new));
            throw e;
        }
    }

    /** Returns the open store, or opens one; the caller has to {@linkplain #leave leave} it. */
    static synchronized SharedStore use(StoreSettings settings) {
        if (shared == null) {
            shared = new SharedStore(settings);
        }
        shared.users++;
        return shared;
    }

    FarStore store() {
        return store;
    }

    /** Called once for each {@link #use}. */
    void leave() {
        synchronized (SharedStore.class) {
            if (--users > 0) {
                return;
            }
            shared = null;
        }
        resources.close();
    }

    /** Loads the records once; other callers wait for that. */
    synchronized void loadOnce(Loading loading) throws Exception {
        if (!loaded) {
            loading.load();
            loaded = true;
        }
    }

    /** Inserts all records. */
    @FunctionalInterface
    interface Loading {
        void load() throws Exception;
    }
}
