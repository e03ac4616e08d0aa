package io.farheap.tier;

import io.farheap.thread.Uninterruptibles;
import io.farheap.tier.device.AppendCompletion;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.IoCompletion;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.handle.BaseHandle;
import io.farheap.tier.handle.OwnedMemory;
import io.farheap.tier.handle.RequestSlots;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** Requests of one thread to a {@link MemoryDevice}. */
final class MemoryHandle extends BaseHandle {

    /** A sector, which storage writes as a whole. */
    private static final long SECTOR_BYTES = 512;

    private static final long NAP_NANOS = 100_000;

    private final MemoryLog log;
    private final MemoryFaults faults;
    /** Slots in the order of their requests, and the number of the poll with which each ends. */
    private final int[] waiting;

    private final long[] due;
    private int waitingCount;
    /** The slots that this poll ends; some are left between polls if a completion has thrown. */
    private final int[] ready;

    private int readyCount;
    private long polls;
    private boolean ending;

    MemoryHandle(Device device, Registry registry, MemoryLog log, MemoryFaults faults, int requests) {
        super(device, registry, requests);
        this.log = log;
        this.faults = faults;
        this.waiting = new int[requests];
        this.due = new long[requests];
        this.ready = new int[requests];
    }

    @Override
    protected boolean append(
            long address, OwnedMemory source, long offset, long length, AppendCompletion completion, long token) {
        int slot = slots.take(RequestSlots.APPEND, address, source, offset, length, token);
        slots.appends[slot] = completion;
        return wait(slot);
    }

    @Override
    protected boolean read(
            long address, OwnedMemory destination, long offset, long length, IoCompletion completion, long token) {
        int slot = slots.take(RequestSlots.READ, address, destination, offset, length, token);
        slots.completions[slot] = completion;
        return wait(slot);
    }

    @Override
    protected boolean startSync(IoCompletion completion, long token) {
        int slot = slots.take(RequestSlots.SYNC, token);
        slots.completions[slot] = completion;
        return wait(slot);
    }

    private boolean wait(int slot) {
        due[slot] = polls + 1 + faults.polls();
        waiting[waitingCount++] = slot;
        return true;
    }

    @Override
    protected int progress() {
        polls++;
        makeReady();
        int done = 0;
        while (readyCount > 0) {
            int which = faults.next(readyCount);
            int slot = ready[which];
            ready[which] = ready[--readyCount];
            slots.status[slot] = perform(slot);
            done++;
            finish(slot);
        }
        return done;
    }

    /** Makes requests ready, in reverse order, since they are taken from the end. */
    private void makeReady() {
        int kept = 0;
        int from = readyCount;
        for (int i = 0; i < waitingCount; i++) {
            int slot = waiting[i];
            if (ending || due[slot] <= polls && faults.tryEnd()) {
                ready[readyCount++] = slot;
            } else {
                waiting[kept++] = slot;
            }
        }
        waitingCount = kept;
        for (int low = from, high = readyCount - 1; low < high; low++, high--) {
            int slot = ready[low];
            ready[low] = ready[high];
            ready[high] = slot;
        }
    }

    @Override
    protected void beginEnd() {
        ending = true;
    }

    private int perform(int slot) {
        return switch (slots.kind[slot]) {
            case RequestSlots.APPEND ->
                write(slot, faults.of(Fault.Kind.APPEND, slots.address[slot], slots.length[slot]));
            case RequestSlots.READ -> fetch(slot, faults.of(Fault.Kind.READ, slots.address[slot], slots.length[slot]));
            default -> status(faults.of(Fault.Kind.SYNC, 0, 0));
        };
    }

    private static int status(Fault fault) {
        return switch (fault) {
            case NONE, TORN_UNNOTICED, FLIPPED_UNNOTICED -> IoStatus.OK;
            case LOST -> IoStatus.LOST;
            case CORRUPT -> IoStatus.CORRUPT;
            case FAILED, SHORT, TORN -> IoStatus.FAILED;
        };
    }

    private int write(int slot, Fault fault) {
        long address = slots.address[slot];
        long length = slots.length[slot];
        if (fault == Fault.FAILED || fault == Fault.LOST || fault == Fault.CORRUPT) {
            return status(fault);
        }
        if (address < log.begin()) {
            return IoStatus.GONE;
        }
        MemorySegment to = log.make(address, length);
        long at = log.place(address);
        try {
            copy(slots.memory(slot).segment(), slots.offset[slot], to, at, length, fault);
        } catch (IllegalStateException e) {
            // Its segment was freed meanwhile.
            return IoStatus.GONE;
        }
        int status = status(fault);
        if (status == IoStatus.OK) {
            log.wrote(address + length);
        }
        return status;
    }

    private void copy(MemorySegment from, long offset, MemorySegment to, long at, long length, Fault fault) {
        switch (fault) {
            case SHORT -> {
                long sectors = Math.floorMod(faults.step(), Math.max(1, length / SECTOR_BYTES));
                MemorySegment.copy(from, offset, to, at, sectors * SECTOR_BYTES);
            }
            case TORN, TORN_UNNOTICED -> {
                long left = Math.floorMod(faults.step(), Math.max(1, (length + SECTOR_BYTES - 1) / SECTOR_BYTES));
                for (long done = 0, sector = 0; done < length; done += SECTOR_BYTES, sector++) {
                    // At least one sector is missing, and of the others about every third.
                    if (sector != left && faults.step() % 3 != 0) {
                        MemorySegment.copy(from, offset + done, to, at + done, Math.min(SECTOR_BYTES, length - done));
                    }
                }
            }
            default -> MemorySegment.copy(from, offset, to, at, length);
        }
        if (fault == Fault.FLIPPED_UNNOTICED) {
            flip(to, at + Math.floorMod(faults.step(), length));
        }
    }

    private static void flip(MemorySegment memory, long at) {
        memory.set(ValueLayout.JAVA_BYTE, at, (byte) (memory.get(ValueLayout.JAVA_BYTE, at) ^ 4));
    }

    private int fetch(int slot, Fault fault) {
        long address = slots.address[slot];
        long length = slots.length[slot];
        int status = status(fault);
        if (address < log.begin()) {
            return IoStatus.GONE;
        }
        @Nullable MemorySegment from = log.find(address);
        if (status != IoStatus.OK) {
            return status;
        }
        if (from == null) {
            // It was never appended, so the read is a caller's mistake.
            return address < log.begin() ? IoStatus.GONE : IoStatus.FAILED;
        }
        MemorySegment to = slots.memory(slot).segment();
        try {
            MemorySegment.copy(from, log.place(address), to, slots.offset[slot], length);
        } catch (IllegalStateException e) {
            return IoStatus.GONE;
        }
        if (fault == Fault.FLIPPED_UNNOTICED) {
            flip(to, slots.offset[slot] + Math.floorMod(faults.step(), length));
        }
        return address < log.begin() ? IoStatus.GONE : IoStatus.OK;
    }

    /** Only polls make progress, so there is nothing to wait for, unless a test holds requests. */
    @Override
    protected void sleep() {
        if (readyCount == 0 && faults.held()) {
            Uninterruptibles.parkNanos(this, NAP_NANOS);
        }
    }
}
