package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.thread.ThreadJoiner;
import io.farheap.tier.device.AppendCompletion;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.IoCompletion;
import io.farheap.tier.handle.BaseHandle;
import io.farheap.tier.handle.OwnedMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Memory that is freed while a tier is removed, and handles that end while their device is closed. */
@Needs(Need.HOST)
class TieredMemoryTest {

    private static final int SEGMENT = 16 * 1024;

    /** A device that only registers memory and opens handles; it calls a test when it frees memory or ends a handle. */
    private static final class Watched extends BaseDevice {

        private final Runnable freeing;
        private final Runnable ending;
        private boolean freed;

        Watched(Runnable freeing, Runnable ending) {
            super(SEGMENT, 8);
            this.freeing = freeing;
            this.ending = ending;
        }

        @Override
        OwnedMemory own(OwnedMemory.Registry registry, MemorySegment memory) {
            return new OwnedMemory(registry, memory) {
                @Override
                protected void free() {
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
            return new WatchedHandle(this, registry, ending);
        }

        @Override
        void free() {
            freed = true;
        }
    }

    private static final class WatchedHandle extends BaseHandle {

        private final Runnable ending;

        WatchedHandle(Device device, Registry registry, Runnable ending) {
            super(device, registry, 1);
            this.ending = ending;
        }

        @Override
        protected boolean append(
                long address, OwnedMemory source, long offset, long length, AppendCompletion completion, long token) {
            return false;
        }

        @Override
        protected boolean read(
                long address, OwnedMemory destination, long offset, long length, IoCompletion completion, long token) {
            return false;
        }

        @Override
        protected boolean startSync(IoCompletion completion, long token) {
            return false;
        }

        @Override
        protected int progress() {
            return 0;
        }

        @Override
        protected void sleep() {}

        @Override
        protected void end() {
            ending.run();
        }
    }

    /** A tier can be removed, and thereby closed, while memory that was registered with it is freed. */
    @Test
    void aTierIsRemovedWhileMemoryIsFreed() throws Exception {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        AtomicReference<Thread> removing = new AtomicReference<>();
        AtomicReference<Runnable> remove = new AtomicReference<>();
        Runnable freeing = () -> {
            Thread thread = Thread.ofPlatform().start(remove.get());
            removing.set(thread);
            while (thread.isAlive() && thread.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
        };
        Device watched = new Watched(freeing, () -> {});
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

    /**
     * The close is refused and the device stays open, because its tiers cannot be closed before the handle has closed
     * the tiers' handles.
     */
    @Test
    void itIsClosedWhileAHandleOfItEnds() {
        AtomicReference<Throwable> refused = new AtomicReference<>();
        AtomicReference<Device> tiered = new AtomicReference<>();
        Watched watched = new Watched(() -> {}, () -> {
            Thread thread = Thread.ofPlatform().start(() -> {
                try {
                    tiered.get().close();
                } catch (Throwable e) {
                    refused.set(e);
                }
            });
            ThreadJoiner.join(thread);
        });
        Watched last = new Watched(() -> {}, () -> {});
        tiered.set(new TieredDevice(List.of(watched, last), 1));
        tiered.get().open().close();
        assertInstanceOf(IllegalStateException.class, refused.get());
        tiered.get().close();
        assertTrue(watched.freed);
        assertTrue(last.freed);
    }

    /** A handle that throws while it ends is closed nevertheless, and does not keep its device open. */
    @Test
    void aHandleThatCannotEndIsForgotten() {
        Watched watched = new Watched(() -> {}, () -> {
            throw new ArithmeticException("of the test");
        });
        DeviceHandle handle = watched.open();
        assertThrows(ArithmeticException.class, handle::close);
        watched.close();
        assertTrue(watched.freed);
    }
}
