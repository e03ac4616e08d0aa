package io.farheap.tier.tiered;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.lifetime.CloseStack;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.device.StorageException;
import io.farheap.tier.handle.BlockingDeviceHandle;
import io.farheap.tier.handle.OwnedMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Copies to the last of some devices the parts of their log that it lacks. Appends that the last device did not sync
 * may be missing anywhere, so everything that the other devices have is compared. Each piece is taken from the first of
 * them that has its address and can read it. A block that is zeros there was not appended there; one that none of them
 * can read was not appended, or is lost. In both cases the last device keeps its own block. If that cannot be read at
 * this moment, nothing is written over it. One thread; no other thread uses the devices.
 */
public final class LastTierCopy implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(LastTierCopy.class.getName());
    private static final long PIECE_BYTES = 256 * 1024;

    private final List<Source> sources = new ArrayList<>();
    private final Device last;
    private final long alignment;
    private final CloseStack resources = new CloseStack();
    /** A source's piece, and behind it the last device's. */
    private final MemorySegment memory;

    private final DeviceMemory ofLast;
    private final BlockingDeviceHandle lastCall;
    /** The status of the last device's blocks of a piece, each of its own alignment, that it could not read. */
    private final int[] refused;

    /** Bytes of the blocks that no source could read. */
    private long unread;

    private long firstUnread;

    private record Source(Device device, DeviceMemory memory, BlockingDeviceHandle call) {

        boolean has(long address) {
            return address >= device.begin() && address < device.end();
        }
    }

    private LastTierCopy(List<? extends Device> others, Device last, long alignment) {
        this.last = last;
        this.alignment = alignment;
        try {
            this.memory = resources.add(Arena.ofShared()).allocate(2 * PIECE_BYTES, OwnedMemory.PAGE_BYTES);
            for (Device device : others) {
                sources.add(new Source(
                        device,
                        resources.add(device.register(memory)),
                        new BlockingDeviceHandle(resources.add(device.open()))));
            }
            this.ofLast = resources.add(last.register(memory));
            this.lastCall = new BlockingDeviceHandle(resources.add(last.open()));
            this.refused = new int[(int) (PIECE_BYTES / last.alignment())];
        } catch (Throwable e) {
            try (resources) {
                throw e;
            }
        }
    }

    /** As {@link io.farheap.tier.TieredDevice#complete}. */
    public static long run(List<? extends Device> devices, int alignment) {
        Device last = devices.getLast();
        List<? extends Device> others = devices.subList(0, devices.size() - 1).stream()
                .filter(device -> device.end() > 0)
                .toList();
        long begin = others.stream().mapToLong(Device::begin).min().orElse(0);
        long end = others.stream().mapToLong(Device::end).max().orElse(0);
        boolean empty = last.end() == 0;
        long covered = covered(others, empty ? begin : last.end());
        if (covered < end) {
            throw new IllegalArgumentException("no tier has the log at " + covered + ", and another has it up to " + end
                    + (empty ? "" : ": begin with an empty last tier"));
        }
        if (empty) {
            last.truncate(begin);
        }
        try (LastTierCopy copy = new LastTierCopy(others, last, alignment)) {
            return copy.all(Math.max(begin, last.begin()), end);
        }
    }

    /** The address up to which the devices together have no gap. */
    private static long covered(List<? extends Device> devices, long from) {
        long covered = from;
        boolean more = true;
        while (more) {
            more = false;
            for (Device device : devices) {
                if (device.begin() <= covered && device.end() > covered) {
                    covered = device.end();
                    more = true;
                }
            }
        }
        return covered;
    }

    private long all(long begin, long end) {
        long copied = 0;
        long next;
        for (long at = begin & -alignment; at < end; at = next) {
            long segmentEnd = (at & -last.segmentBytes()) + last.segmentBytes();
            next = Math.min(Math.min(roundUp(end), segmentEnd), at + PIECE_BYTES);
            copied += piece(at, next - at);
        }
        check("synced in the last tier", end, lastCall.sync(), last);
        if (unread > 0) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "{0} bytes of a log, the first at {1}, could not be read when the last tier was completed:"
                            + " they were never appended, or they are lost",
                    unread,
                    firstUnread);
        }
        return copied;
    }

    private long roundUp(long address) {
        return address + alignment - 1 & -alignment;
    }

    /** @return how many bytes were copied */
    private long piece(long at, long length) {
        boolean there = at + length <= last.end() && lastCall.read(at, ofLast, PIECE_BYTES, length) == IoStatus.OK;
        Arrays.fill(refused, IoStatus.OK);
        if (!there) {
            readBlocksOfLast(at, length);
        }
        memory.asSlice(0, length).fill((byte) 0);
        for (long block = at; block < at + length; ) {
            block = fromSources(at, block, at + length);
        }
        for (long offset = 0; offset < length; offset += alignment) {
            MemorySegment block = memory.asSlice(offset, alignment);
            if (zeros(block)) {
                checkRead(at, offset);
                block.copyFrom(memory.asSlice(PIECE_BYTES + offset, alignment));
            }
        }
        if (there && MemorySegment.mismatch(memory, 0, length, memory, PIECE_BYTES, PIECE_BYTES + length) < 0) {
            return 0;
        }
        check("written to the last tier", at, lastCall.append(at, ofLast, 0, length), last);
        return length;
    }

    /** Reads what the last device has of a piece, a block at a time, since it may end within the piece. */
    private void readBlocksOfLast(long at, long length) {
        memory.asSlice(PIECE_BYTES, length).fill((byte) 0);
        long bytes;
        for (long offset = 0; offset < length && at + offset < last.end(); offset += bytes) {
            bytes = Math.min(Math.min(alignment, length - offset), last.end() - at - offset);
            if (lastCall.read(at + offset, ofLast, PIECE_BYTES + offset, bytes) != IoStatus.OK) {
                for (long part = offset; part < offset + bytes; part += last.alignment()) {
                    readBlockOfLast(at, part);
                }
            }
        }
    }

    private void readBlockOfLast(long at, long offset) {
        int bytes = last.alignment();
        int status = lastCall.read(at + offset, ofLast, PIECE_BYTES + offset, bytes);
        if (status != IoStatus.OK) {
            memory.asSlice(PIECE_BYTES + offset, bytes).fill((byte) 0);
            boolean gone = status == IoStatus.GONE || status == IoStatus.LOST;
            boolean empty = gone || !last.mayHave(at + offset, bytes);
            refused[(int) (offset / bytes)] = empty ? IoStatus.OK : status;
        }
    }

    /** Refuses to write zeros over blocks that the last device has and could not read. */
    private void checkRead(long at, long offset) {
        int step = last.alignment();
        for (long block = offset; block < offset + alignment; block += step) {
            check("read in the last tier, and no other tier has it", at + block, refused[(int) (block / step)], last);
        }
    }

    /**
     * Reads from the first source that has the address, as much as can be read at once. If no source can be read, the
     * first block stays zeros.
     *
     * @return the address at which to continue
     */
    private long fromSources(long at, long from, long to) {
        boolean failed = false;
        for (Source source : sources) {
            if (source.has(from)) {
                long end = Math.min(to, source.device.end());
                if (source.call.read(from, source.memory, from - at, end - from) == IoStatus.OK) {
                    return roundUp(end);
                }
                if (source.call.read(from, source.memory, from - at, Math.min(alignment, end - from)) == IoStatus.OK) {
                    return from + alignment;
                }
                memory.asSlice(from - at, alignment).fill((byte) 0);
                failed = true;
            }
        }
        if (failed) {
            firstUnread = unread == 0 ? from : firstUnread;
            unread += alignment;
        }
        return from + alignment;
    }

    private static boolean zeros(MemorySegment block) {
        for (long offset = 0; offset < block.byteSize(); offset += Long.BYTES) {
            if (block.get(JAVA_LONG, offset) != 0) {
                return false;
            }
        }
        return true;
    }

    private static void check(String what, long at, int status, Device device) {
        if (status != IoStatus.OK) {
            throw new StorageException(
                    "the log at " + at + " could not be " + what + ": " + IoStatus.describe(status, device));
        }
    }

    @Override
    public void close() {
        resources.close();
    }
}
