package io.farheap.store.checkpoint;

import io.farheap.lifetime.CloseStack;
import io.farheap.memory.SharedMemory;
import io.farheap.store.checkpoint.Checkpoint.Extent;
import io.farheap.store.checkpoint.Checkpoint.Piece;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.handle.BlockingDeviceHandle;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes the part of the log that a checkpoint has in files beside it back to the device. No checkpoint needs the bytes
 * that the device has there: earlier ones need only the log below, and recovery has found the later ones, if any, to be
 * damaged. The restore may be repeated. The recovered store appends behind that part, and its next checkpoint syncs the
 * device.
 */
final class CheckpointRestore implements AutoCloseable {

    private final Checkpoint checkpoint;
    private final Device device;
    private final StableFiles files;
    private final CloseStack resources = new CloseStack();
    private final Map<Long, StableFiles.Input> inputs = new HashMap<>();
    private final ByteBuffer block = ByteBuffer.allocate(SnapshotFiles.BLOCK);
    private final SharedMemory memory;
    private final DeviceMemory registered;
    private final BlockingDeviceHandle call;

    private CheckpointRestore(Checkpoint checkpoint, Device device, StableFiles files) {
        this.checkpoint = checkpoint;
        this.device = device;
        this.files = files;
        try {
            memory = resources.add(SharedMemory.allocate("farheap-store-restoring", 1L << checkpoint.pageBits()));
            registered = resources.add(device.register(memory.segment()));
            call = new BlockingDeviceHandle(resources.add(device.open()));
        } catch (Throwable e) {
            try (resources) {
                throw e;
            }
        }
    }

    /**
     * @return the checkpoint as if it had been written without pieces
     * @throws DamagedCheckpointException if a piece is not as it was written
     * @throws CheckpointUnavailableException if a piece cannot be read now, or the device does not write it
     */
    static Checkpoint run(Checkpoint checkpoint, Device device, StableFiles files)
            throws DamagedCheckpointException, CheckpointUnavailableException {
        if (checkpoint.aside() == checkpoint.end()) {
            return checkpoint;
        }
        try (CheckpointRestore restoring = new CheckpointRestore(checkpoint, device, files)) {
            return checkpoint.restored(restoring.pages());
        }
    }

    private List<Extent> pages() throws DamagedCheckpointException, CheckpointUnavailableException {
        long pageBytes = 1L << checkpoint.pageBits();
        List<Extent> extents = new ArrayList<>();
        int piece = 0;
        long to;
        for (long from = checkpoint.aside(); from < checkpoint.end(); from = to) {
            to = Math.min(checkpoint.end(), (from & -pageBytes) + pageBytes);
            long page = from & -pageBytes;
            memory.segment().fill((byte) 0);
            keep(page, from);
            for (long at = from; at < to; piece++) {
                at = place(piece, at, to, memory.segment().asSlice(at - page));
            }
            extents.add(new Extent(
                    from,
                    to,
                    Checkpoint.crc(
                            memory.segment().asSlice(from - page, to - from).asByteBuffer())));
            write(page, from, to);
        }
        return extents;
    }

    /** Keeps the bytes that precede {@code from} in the same block. */
    private void keep(long page, long from) throws DamagedCheckpointException, CheckpointUnavailableException {
        long alignment = device.alignment();
        long first = from & -alignment;
        if (first < from && from > checkpoint.begin()) {
            int status = call.read(first, registered, first - page, alignment);
            String told = "its log at " + first + " could not be read: " + IoStatus.describe(status, device);
            switch (status) {
                case IoStatus.OK -> {}
                case IoStatus.GONE, IoStatus.LOST -> throw new DamagedCheckpointException(told);
                default -> throw new CheckpointUnavailableException(told);
            }
        }
    }

    /** @return the address at which the next piece begins */
    private long place(int number, long at, long to, MemorySegment into)
            throws DamagedCheckpointException, CheckpointUnavailableException {
        if (number >= checkpoint.pieces().size()) {
            throw new DamagedCheckpointException("nothing has its log at " + at);
        }
        Piece piece = checkpoint.pieces().get(number);
        if (piece.from() > at || piece.to() <= at || piece.to() > to || piece.bytes() > block.capacity()) {
            throw new DamagedCheckpointException(
                    "it has a part of its log from " + piece.from() + " to " + piece.to() + " at " + at);
        }
        String name = SnapshotFiles.name(piece.file());
        try {
            block.clear().limit(piece.bytes());
            input(piece.file()).read(piece.position(), block);
        } catch (IOException e) {
            String why = name + " cannot be read: " + e.getMessage();
            if (StableFiles.isDamage(e)) {
                throw new DamagedCheckpointException(why);
            }
            throw new CheckpointUnavailableException(why);
        }
        if (Checkpoint.crc(block.flip()) != piece.crc()) {
            throw new DamagedCheckpointException(name + " has another checksum at " + piece.position());
        }
        MemorySegment.copy(MemorySegment.ofArray(block.array()), at - piece.from(), into, 0, piece.to() - at);
        return piece.to();
    }

    private StableFiles.Input input(long number) throws IOException {
        StableFiles.Input input = inputs.get(number);
        if (input == null) {
            input = files.open(SnapshotFiles.name(number));
            inputs.put(number, input);
        }
        return input;
    }

    private void write(long page, long from, long to) throws CheckpointUnavailableException {
        long alignment = device.alignment();
        long first = from & -alignment;
        long end = to + alignment - 1 & -alignment;
        int status = call.append(first, registered, first - page, end - first);
        if (status != IoStatus.OK) {
            throw new CheckpointUnavailableException(
                    "its log at " + first + " could not be written: " + IoStatus.describe(status, device));
        }
    }

    @Override
    public void close() throws CheckpointUnavailableException {
        try (resources) {
            for (StableFiles.Input input : inputs.values()) {
                input.close();
            }
        } catch (IOException e) {
            throw new CheckpointUnavailableException("a snapshot's file could not be closed: " + e.getMessage());
        }
    }
}
