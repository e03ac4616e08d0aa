package io.farheap.tier.file;

import io.farheap.posix.Errno;
import io.farheap.tier.device.AppendCompletion;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.IoCompletion;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.device.StorageException;
import io.farheap.tier.handle.BaseHandle;
import io.farheap.tier.handle.OwnedMemory;
import io.farheap.tier.handle.RequestSlots;
import io.farheap.tier.handle.SlotQueue;
import org.jspecify.annotations.Nullable;

/**
 * Requests of one thread to a {@link io.farheap.tier.FileDevice}, for any engine. Subclasses bring requests to the
 * thread that performs them; this class has the steps of a request, which any thread may perform.
 */
public abstract class FileHandle extends BaseHandle {

    private final FileLog log;
    private final long offsetMask;
    private final int alignment;
    /** The segment of each request; of a sync, the one that is being synced, or null. */
    final @Nullable FileSegment[] segments;
    /** Bytes of a read or a write that are done; of a sync, what {@code written} of its segment was. */
    final long[] done;
    /** Requests that have ended without the storage. */
    private final SlotQueue ended;

    FileHandle(Device device, Registry registry, FileLog log, int requests) {
        super(device, registry, requests);
        this.log = log;
        this.offsetMask = device.segmentBytes() - 1;
        this.alignment = device.alignment();
        this.segments = new FileSegment[requests];
        this.done = new long[requests];
        this.ended = new SlotQueue(requests);
    }

    @Override
    protected boolean append(
            long address, OwnedMemory source, long offset, long length, AppendCompletion completion, long token) {
        FileSegment segment = log.find(address);
        int status = IoStatus.OK;
        if (address < log.begin()) {
            status = IoStatus.GONE;
        } else if (segment == null) {
            try {
                segment = log.make(address);
            } catch (StorageException e) {
                log.refused(e);
                status = IoStatus.FAILED;
            }
        }
        int slot = slots.take(RequestSlots.APPEND, address, source, offset, length, token);
        slots.appends[slot] = completion;
        return start(slot, segment, status);
    }

    @Override
    protected boolean read(
            long address, OwnedMemory destination, long offset, long length, IoCompletion completion, long token) {
        int slot = slots.take(RequestSlots.READ, address, destination, offset, length, token);
        slots.completions[slot] = completion;
        FileSegment segment = log.find(address);
        int status = IoStatus.OK;
        if (address < log.begin()) {
            status = IoStatus.GONE;
        } else if (segment == null) {
            log.missing(address);
            status = IoStatus.FAILED;
        }
        return start(slot, segment, status);
    }

    private boolean start(int slot, @Nullable FileSegment segment, int status) {
        if (status == IoStatus.OK && (segment == null || !segment.acquire())) {
            status = IoStatus.GONE;
        }
        if (status != IoStatus.OK) {
            return endWith(slot, status);
        }
        segments[slot] = segment;
        done[slot] = 0;
        if (submit(slot)) {
            return true;
        }
        forget(slot);
        slots.give(slot);
        return false;
    }

    private boolean endWith(int slot, int status) {
        slots.status[slot] = status;
        ended.add(slot);
        return true;
    }

    private void forget(int slot) {
        FileSegment segment = segments[slot];
        if (segment != null) {
            segments[slot] = null;
            segment.release();
        }
    }

    @Override
    protected boolean startSync(IoCompletion completion, long token) {
        int slot = slots.take(RequestSlots.SYNC, token);
        slots.completions[slot] = completion;
        if (!nextToSync(slot, 0)) {
            return endWith(slot, IoStatus.OK);
        }
        if (submit(slot)) {
            return true;
        }
        forget(slot);
        slots.give(slot);
        return false;
    }

    /** @return whether there is a segment to sync, which then belongs to the slot and is passed to {@link #synced} */
    private boolean nextToSync(int slot, long from) {
        for (long number = log.nextDirty(from); number >= 0; number = log.nextDirty(number + 1)) {
            FileSegment segment = log.segment(number);
            if (segment != null && segment.acquire()) {
                segments[slot] = segment;
                done[slot] = segment.written();
                return true;
            }
        }
        return false;
    }

    /**
     * Called when the sync of a segment has ended, failed, or is to be repeated.
     *
     * @param error the system's number, 0 for none
     * @return whether another segment is to be synced, which then belongs to the slot; otherwise the status is set
     */
    final boolean synced(int slot, int error) {
        if (isToComeAgain(error)) {
            return true;
        }
        FileSegment segment = segments[slot];
        assert segment != null;
        if (error != 0) {
            log.refused("sync", segment, error);
        }
        long number = segment.number;
        if (!segment.synced(done[slot], error == 0)) {
            slots.status[slot] = IoStatus.FAILED;
        }
        forget(slot);
        return slots.status[slot] == IoStatus.OK && nextToSync(slot, number + 1);
    }

    /**
     * Called when a part of a read or write is done, or when nothing could be done for the moment.
     *
     * @param bytes how many bytes; if it failed, minus the system's error number
     * @return whether to continue, at {@link #position}; otherwise the status is set
     */
    final boolean moved(int slot, long bytes) {
        if (isToComeAgain(-bytes)) {
            return true;
        }
        if (bytes <= 0) {
            FileSegment segment = segments[slot];
            if (segment != null) {
                log.refused(slots.kind[slot] == RequestSlots.APPEND ? "write" : "read", segment, (int) -bytes);
            }
            slots.status[slot] = IoStatus.FAILED;
            return false;
        }
        // Continue at an aligned position.
        long whole = done[slot] + bytes;
        long next = whole == slots.length[slot] ? whole : whole & -alignment;
        if (next == done[slot] && slots.kind[slot] != RequestSlots.APPEND) {
            // The file ends within a block, as after a power cut: another read would return the same.
            FileSegment segment = segments[slot];
            if (segment != null) {
                log.refused("read", segment, 0);
            }
            slots.status[slot] = IoStatus.FAILED;
            return false;
        }
        done[slot] = next;
        return done[slot] < slots.length[slot];
    }

    /** Whether the kernel has done nothing: for want of memory, for a signal, or as io_uring's own thread has ended. */
    private static boolean isToComeAgain(long error) {
        return error == Errno.EAGAIN || error == Errno.EINTR || error == Errno.ECANCELED;
    }

    final long position(int slot) {
        return (slots.address[slot] & offsetMask) + done[slot];
    }

    /** Performs a request, on any thread. */
    final void perform(int slot) {
        FileSegment segment = segments[slot];
        assert segment != null;
        if (slots.kind[slot] == RequestSlots.SYNC) {
            boolean more = true;
            while (more) {
                segment = segments[slot];
                assert segment != null;
                more = synced(slot, segment.file.sync());
            }
            return;
        }
        OwnedMemory memory = slots.memory(slot);
        boolean write = slots.kind[slot] == RequestSlots.APPEND;
        long bytes;
        do {
            long at = slots.offset[slot] + done[slot];
            long rest = slots.length[slot] - done[slot];
            bytes = write
                    ? segment.file.write(position(slot), memory.segment(), at, rest)
                    : segment.file.read(position(slot), memory.segment(), at, rest);
        } while (moved(slot, bytes));
    }

    /**
     * Passes a request to the storage.
     *
     * @return false if it is full
     */
    abstract boolean submit(int slot);

    /** Ends a request, whose status is set. Called on the handle's thread. */
    final void end(int slot) {
        if (slots.kind[slot] != RequestSlots.SYNC) {
            long address = slots.address[slot];
            FileSegment segment = segments[slot];
            if (slots.kind[slot] == RequestSlots.APPEND && slots.status[slot] == IoStatus.OK && segment != null) {
                segment.wrote();
                log.wrote(address + slots.length[slot]);
            }
            if (address < log.begin()) {
                slots.status[slot] = IoStatus.GONE;
            }
        }
        if (slots.status[slot] == IoStatus.FAILED) {
            log.failed();
        }
        forget(slot);
        finish(slot);
    }

    @Override
    protected final int progress() {
        int count = 0;
        while (!ended.isEmpty()) {
            end(ended.remove());
            count++;
        }
        return count + reap();
    }

    /** Ends requests that the storage has done. @return how many */
    abstract int reap();

    @Override
    protected final void sleep() {
        if (ended.isEmpty()) {
            await();
        }
    }

    /** Waits until there is a request to reap, or for a while. */
    abstract void await();
}
