package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import io.farheap.tier.device.AppendCompletion;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.IoStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One thread appends parts, each a second time longer, while earlier appends are not released yet; other threads read
 * what was called back; one thread replaces tiers and fills them. The devices end requests late and in any order, and
 * all devices but the last tier's lose some. Every read succeeds and returns the bytes of its address.
 */
@Needs(Need.HOST)
class TieredHistoryTest {

    private static final int SEGMENT = 16 * 1024;
    private static final int PART = 4096;
    private static final int LAST = Effort.count(1000);
    private static final int READERS = 2;

    private final Random seeds;
    private final long seed = System.nanoTime();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final AtomicLong readable = new AtomicLong();
    private final AtomicLong checked = new AtomicLong();
    private volatile boolean done;

    TieredHistoryTest() {
        seeds = new Random(seed);
    }

    private MemoryDevice device(int alignment, long segments, boolean loses) {
        long capacity = segments == 0 ? Device.MAX_ADDRESS : segments * SEGMENT;
        MemoryDevice made = new MemoryDevice(SEGMENT, alignment, 64, capacity);
        made.faults().shuffle(seeds.nextLong() | 1);
        made.faults().latency(seeds.nextInt(6));
        if (loses) {
            Random random = new Random(seeds.nextLong());
            made.faults().inject((kind, address, length) -> {
                synchronized (random) {
                    return switch (random.nextInt(100)) {
                        case 0 -> Fault.LOST;
                        case 1 -> kind == Fault.Kind.APPEND ? Fault.TORN : Fault.FAILED;
                        default -> Fault.NONE;
                    };
                }
            });
        }
        return made;
    }

    @ParameterizedTest(name = "commit point {0}")
    @ValueSource(ints = {0, 1, 2})
    void whatIsReadIsWhatWasAppended(int commit) throws Exception {
        List<Thread> threads = new ArrayList<>();
        try (TieredDevice device = new TieredDevice(
                List.of(device(8, 6, true), device(512, 10, true), device(4096, 0, false)), commit, 32)) {
            threads.add(start(() -> append(device)));
            for (int i = 0; i < READERS; i++) {
                long own = seeds.nextLong();
                threads.add(start(() -> read(device, new Random(own))));
            }
            threads.add(start(() -> change(device)));
            for (Thread thread : threads) {
                thread.join(TestDevice.patience(120_000));
                if (thread.isAlive()) {
                    failure.compareAndSet(null, new AssertionError(thread.getName() + " does not end"));
                    done = true;
                }
            }
            if (failure.get() != null) {
                throw new AssertionError("seed " + seed + ": " + failure.get(), failure.get());
            }
            assertTrue(checked.get() > 0);
            assertEquals((long) LAST * PART, device.end());
        }
    }

    private Thread start(Runnable work) {
        return Thread.ofPlatform().start(() -> {
            try {
                work.run();
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
                done = true;
            }
        });
    }

    /** Appends each part twice, as a store does its tail page: first half of it with zeros behind, then all of it. */
    private void append(TieredDevice device) {
        int frames = 16;
        try (Arena arena = Arena.ofShared();
                DeviceMemory memory = device.register(arena.allocate((long) frames * PART, 4096));
                DeviceHandle handle = device.open()) {
            boolean[] free = new boolean[frames];
            java.util.Arrays.fill(free, true);
            for (int part = 0; part < LAST && !done; part++) {
                for (int length = PART / 2; length <= PART && !done; length += PART / 2) {
                    int frame = take(free, handle);
                    if (frame < 0) {
                        return;
                    }
                    appendPart(handle, memory, free, frame, part, length);
                }
            }
            Calls.finish(handle);
        } finally {
            done = true;
        }
    }

    private int take(boolean[] free, DeviceHandle handle) {
        while (!done) {
            for (int i = 0; i < free.length; i++) {
                if (free[i]) {
                    free[i] = false;
                    return i;
                }
            }
            handle.poll();
        }
        return -1;
    }

    private void appendPart(DeviceHandle handle, DeviceMemory memory, boolean[] free, int frame, int part, int length) {
        long address = (long) part * PART;
        MemorySegment bytes = memory.segment().asSlice((long) frame * PART, PART);
        bytes.fill((byte) 0);
        DeviceContract.fill(bytes, 0, length, address);
        boolean[] ended = new boolean[1];
        AppendCompletion completion = new AppendCompletion() {
            @Override
            public void appended(long token, int status) {
                assertEquals(IoStatus.OK, status);
                ended[0] = true;
                readable.accumulateAndGet(address + length, Math::max);
            }

            @Override
            public void released(long token) {
                bytes.fill((byte) 77);
                free[frame] = true;
            }
        };
        while (!handle.append(address, memory, (long) frame * PART, PART, completion, part)) {
            handle.poll();
            if (done) {
                return;
            }
        }
        // The longer append of this part, and the next part, must wait until this append was called back.
        while (!ended[0] && !done) {
            handle.poll();
        }
    }

    private void read(TieredDevice device, Random random) {
        try (Arena arena = Arena.ofShared();
                DeviceMemory memory = device.register(arena.allocate(4 * 4096, 4096));
                DeviceHandle handle = device.open()) {
            while (!done) {
                long end = readable.get();
                if (end == 0) {
                    continue;
                }
                int length = 8 * (1 + random.nextInt(32));
                long address = Math.max(0, (random.nextLong(end) - length) & -8);
                length = (int) Math.min(length, Math.min(end - address, SEGMENT - address % SEGMENT));
                Calls read = new Calls();
                while (!handle.read(address, memory, 0, length, read, 1)) {
                    handle.poll();
                }
                Calls.finish(handle);
                assertEquals(IoStatus.OK, read.status(1), "at " + address);
                DeviceContract.assertHas(memory.segment(), 0, length, address);
                checked.incrementAndGet();
            }
        }
    }

    private void change(TieredDevice device) {
        while (!done) {
            int index = seeds.nextInt(device.tiers() - 1);
            if (device.removedInUse() > 0) {
                Thread.onSpinWait();
                continue;
            }
            device.replace(index, device(index == 0 ? 8 : 512, 4 + seeds.nextInt(20), true));
            device.fill(index, 1L << 33);
        }
    }
}
