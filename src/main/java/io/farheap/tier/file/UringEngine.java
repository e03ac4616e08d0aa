package io.farheap.tier.file;

import io.farheap.posix.IoUring;
import io.farheap.posix.PosixException;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.StorageException;
import io.farheap.tier.handle.BaseHandle;
import io.farheap.tier.handle.RequestSlots;

/**
 * The kernel reads and writes: each handle has an {@link IoUring} of its own, and submits prepared requests together.
 */
public record UringEngine(int requests) implements FileEngine {

    /** So many prepared requests are submitted at once, without waiting for the next poll. */
    private static final int TOGETHER = 16;

    private static final long AWAIT_NANOS = 5_000_000;

    public static UringEngine open(int requests) {
        try {
            IoUring.open(1).close();
            return new UringEngine(requests);
        } catch (PosixException | UnsupportedOperationException e) {
            throw new StorageException(
                    "this process may not use io_uring (" + e.getMessage() + "): take threads, or allow it", e);
        }
    }

    public static boolean allowed() {
        try {
            IoUring.open(1).close();
            return true;
        } catch (PosixException | UnsupportedOperationException e) {
            return false;
        }
    }

    @Override
    public String name() {
        return "io_uring";
    }

    @Override
    public FileHandle open(Device device, BaseHandle.Registry registry, FileLog log) {
        return new Handle(device, registry, log, requests);
    }

    @Override
    public void close() {}

    private static final class Handle extends FileHandle {

        /** The most bytes of one read or write; a longer request continues with the rest after it. */
        private static final long MOST_BYTES = 1 << 30;

        private final IoUring ring;

        Handle(Device device, Registry registry, FileLog log, int requests) {
            super(device, registry, log, requests);
            ring = IoUring.open(requests);
        }

        @Override
        boolean submit(int slot) {
            prepare(slot);
            if (ring.prepared() >= TOGETHER) {
                ring.submit();
            }
            return true;
        }

        /** A slot is in the ring at most once, and the ring has a place for each slot. */
        private void prepare(int slot) {
            FileSegment segment = segments[slot];
            assert segment != null && ring.hasRoom();
            int file = segment.file.descriptor();
            if (slots.kind[slot] == RequestSlots.SYNC) {
                ring.syncData(file, slot);
                return;
            }
            long address = slots.memory(slot).segment().address() + slots.offset[slot] + done[slot];
            int length = (int) Math.min(MOST_BYTES, slots.length[slot] - done[slot]);
            if (slots.kind[slot] == RequestSlots.APPEND) {
                ring.write(file, position(slot), address, length, slot);
            } else {
                ring.read(file, position(slot), address, length, slot);
            }
        }

        @Override
        int reap() {
            ring.submit();
            int count = 0;
            for (int taken = 0; taken < slots.capacity() && ring.hasNext(); taken++) {
                int slot = (int) ring.token();
                int result = ring.result();
                ring.take();
                boolean more = slots.kind[slot] == RequestSlots.SYNC ? synced(slot, -result) : moved(slot, result);
                if (more) {
                    prepare(slot);
                } else {
                    count++;
                    end(slot);
                }
            }
            return count;
        }

        @Override
        void await() {
            if (!ring.hasNext()) {
                ring.submitAndWait(AWAIT_NANOS);
            }
        }

        @Override
        protected void end() {
            ring.close();
        }
    }
}
