package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Memory that is registered with tiers which come and go. */
@Needs(Need.HOST)
class TieredMemoryTest {

    private static final int SEGMENT = 16 * 1024;

    /** A device of which nothing is used but that memory is registered with it. */
    private static final class Watched extends BaseDevice {

        private final Runnable freeing;

        Watched(Runnable freeing) {
            super(SEGMENT, 8);
            this.freeing = freeing;
        }

        @Override
        OwnedMemory own(OwnedMemory.Registry registry, MemorySegment memory) {
            return new OwnedMemory(registry, memory) {
                @Override
                void free() {
                    freeing.run();
                }
            };
        }

        @Override
        public String name() {
            return "watched";
        }

        @Override
        public long capacity() {
            return SEGMENT;
        }

        @Override
        public boolean durable() {
            return false;
        }

        @Override
        public long begin() {
            return 0;
        }

        @Override
        public long end() {
            return 0;
        }

        @Override
        public void truncate(long below) {}

        @Override
        BaseHandle openHandle(BaseHandle.Registry registry) {
            throw new UnsupportedOperationException();
        }

        @Override
        void free() {}
    }

    /** A tier is removed, and so closed, while memory is freed that was registered with it. */
    @Test
    void aTierIsRemovedWhileMemoryIsFreed() throws Exception {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        AtomicReference<Thread> removing = new AtomicReference<>();
        AtomicReference<Runnable> remove = new AtomicReference<>();
        Device watched = new Watched(() -> {
            Thread thread = Thread.ofPlatform().start(remove.get());
            removing.set(thread);
            while (thread.isAlive() && thread.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
        });
        List<Device> tiers = List.of(watched, new MemoryDevice(SEGMENT, 8), new MemoryDevice(SEGMENT, 8));
        try (Arena arena = Arena.ofShared();
                TieredDevice device = new TieredDevice(tiers, 2)) {
            remove.set(() -> {
                try {
                    device.remove(1);
                } catch (Throwable e) {
                    failure.set(e);
                }
            });
            device.register(arena.allocate(4096, 4096)).close();
            removing.get().join();
            assertNull(failure.get());
            assertEquals(2, device.tiers());
            assertEquals(0, device.removedInUse());
        }
    }
}
