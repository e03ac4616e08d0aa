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
 * Requests of one thread to a {@link io.farheap.tier.FileDevice}, whoever reads and writes for it. Kinds of handles say
 * how requests get there; what is done with a request, by whatever thread, is here.
 */
public abstract class FileHandle extends BaseHandle {

    private final FileLog log;
    private final long offsetMask;
    private final int alignment;
    /** Of each request; of a sync the one that is being synced, which it may have none of. */
    final @Nullable FileSegment[] segments;
    /** Bytes that are done of a read or a write; of a sync, what its segment had written. */
    final long[] done;
    /** What ended without help of the storage. */
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

    /** @return whether there is one, which is the slot's now: to be synced, and handed to {@link #synced} */
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
     * A sync's segment is synced, or could not be, or is to be synced again.
     *
     * @param error the system's number, 0 for none
     * @return whether another is to be synced, which is the slot's now; else the status is set
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
     * Part of a read or write is done, or nothing of it for now.
     *
     * @param bytes how many; negative where it failed, minus the system's error number
     * @return whether it is to go on, at {@link #position}; else the status is set
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
        // What goes on is as aligned as what began.
        long whole = done[slot] + bytes;
        long next = whole == slots.length[slot] ? whole : whole & -alignment;
        if (next == done[slot] && slots.kind[slot] != RequestSlots.APPEND) {
            // The file ends within a block, which a power cut may leave: again it would be the same.
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

    /** Does all of a request, by whatever thread. */
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
     * The storage gets it.
     *
     * @return false where it is full
     */
    abstract boolean submit(int slot);

    /** The request has its status. On the handle's thread. */
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

    /** Ends what the storage has done. */
    abstract int reap();

    @Override
    protected final void sleep() {
        if (ended.isEmpty()) {
            await();
        }
    }

    /** Until there is something to reap, or for a while. */
    abstract void await();
}
