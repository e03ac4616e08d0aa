package io.farheap.store.checkpoint;

import io.farheap.lifetime.CloseStack;
import io.farheap.memory.SharedMemory;
import io.farheap.store.format.SpinWait;
import io.farheap.store.index.HashIndex;
import io.farheap.store.log.LogGaps;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.IoStatus;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Rebuilds an index from a checkpoint: reads the log from its beginning, or from the address up to which an image of
 * the index is complete, to its end, several pages at a time; checks the checksum of every part; and makes each entry
 * point to the last record of its chain.
 */
final class IndexRecovery {

    // Bytes that are read from the device at a time, within bounds of the number of reads.
    private static final long READ_AHEAD_BYTES = 16 << 20;
    private static final int LEAST_READS = 8;
    private static final int MOST_READS = 64;

    private final Checkpoint checkpoint;
    private final Device device;
    private final HashIndex index;
    private final LogGaps gaps;
    private final long pageBytes;
    /** How many parts are read at a time. */
    private int reads;

    private String damage = "";
    private String trouble = "";

    private IndexRecovery(Checkpoint checkpoint, Device device, HashIndex index, LogGaps gaps) {
        this.checkpoint = checkpoint;
        this.device = device;
        this.index = index;
        this.gaps = gaps;
        this.pageBytes = 1L << checkpoint.pageBits();
    }

    /** The gaps of the log once the checkpoint is recovered. */
    static LogGaps gaps(Checkpoint checkpoint) {
        List<LogGaps.Gap> all = new ArrayList<>(checkpoint.gaps());
        all.add(new LogGaps.Gap(checkpoint.passing(), checkpoint.end(), checkpoint.version()));
        all.add(new LogGaps.Gap(checkpoint.end(), checkpoint.next(), -1));
        all.removeIf(gap -> gap.from() >= gap.to());
        return new LogGaps(all);
    }

    /**
     * @param index which has all records that were published below {@code from}
     * @throws DamagedCheckpointException if the log is not as it was when the checkpoint was made; the index is not
     *     usable then
     * @throws CheckpointUnavailableException if that is not known, since the device cannot read it now; the index is
     *     not usable then
     */
    static void index(Checkpoint checkpoint, Device device, HashIndex index, LogGaps gaps, long from)
            throws DamagedCheckpointException, CheckpointUnavailableException {
        new IndexRecovery(checkpoint, device, index, gaps).run(from);
    }

    private void run(long from) throws DamagedCheckpointException, CheckpointUnavailableException {
        List<Checkpoint.Extent> extents = checkpoint.extents().stream()
                .filter(extent -> extent.to() > from)
                .toList();
        int most = Math.clamp(READ_AHEAD_BYTES / pageBytes, LEAST_READS, MOST_READS);
        reads = Math.clamp(extents.size(), 1, most);
        try (CloseStack resources = new CloseStack()) {
            SharedMemory memory = resources.add(SharedMemory.allocate("farheap-store-recovery", reads * pageBytes));
            DeviceMemory registered = resources.add(device.register(memory.segment()));
            DeviceHandle handle = resources.add(device.open());
            // Behind the memory, so closed before it.
            IndexBuilder fill = resources.add(new IndexBuilder(
                    index, checkpoint.layout(), gaps, reads, IndexBuilder.threads(index, extents.size())));
            boolean[] read = new boolean[reads];
            int next = 0;
            int rounds = 0;
            for (int at = 0; at < extents.size() && sound(); ) {
                while (next < extents.size()
                        && next < fill.done() + reads
                        && read(extents.get(next), next, handle, registered, read)) {
                    next++;
                }
                // Poll even if the next part has been read: a poll also submits the reads that were requested above.
                boolean progress = handle.poll() > 0;
                if (at < next && read[at % reads]) {
                    look(extents.get(at), memory, at % reads, fill);
                    at++;
                    rounds = 0;
                } else if (!progress) {
                    fill.checkSound();
                    if (handle.pending() > 0) {
                        handle.awaitProgress();
                    } else {
                        rounds = SpinWait.wait(rounds);
                    }
                }
            }
            if (sound()) {
                fill.finish();
            }
        }
        if (!trouble.isEmpty()) {
            throw new CheckpointUnavailableException(trouble);
        }
        if (!damage.isEmpty()) {
            throw new DamagedCheckpointException(damage);
        }
    }

    private boolean sound() {
        return damage.isEmpty() && trouble.isEmpty();
    }

    private boolean read(
            Checkpoint.Extent extent, int number, DeviceHandle handle, DeviceMemory registered, boolean[] read) {
        long alignment = device.alignment();
        long from = extent.from() & -alignment;
        long to = extent.to() + alignment - 1 & -alignment;
        int place = number % reads;
        read[place] = false;
        if (extent.from() >= extent.to() || (extent.from() & -pageBytes) != (extent.to() - 1 & -pageBytes)) {
            damage = "a part of its log goes from " + extent.from() + " to " + extent.to();
            return false;
        }
        if (extent.to() > device.end()) {
            damage = "its log ends at " + extent.to() + ", and the device has it up to " + device.end();
            return false;
        }
        return handle.read(
                from,
                registered,
                place * pageBytes,
                to - from,
                (token, status) -> {
                    switch (status) {
                        case IoStatus.OK -> read[place] = true;
                        case IoStatus.GONE, IoStatus.LOST -> damage = unread(extent, status);
                        default -> trouble = unread(extent, status);
                    }
                },
                number);
    }

    private String unread(Checkpoint.Extent extent, int status) {
        return "its log from " + extent.from() + " on could not be read: " + IoStatus.describe(status, device);
    }

    private void look(Checkpoint.Extent extent, SharedMemory memory, int place, IndexBuilder fill) {
        long offset = place * pageBytes + (extent.from() & device.alignment() - 1);
        long length = extent.to() - extent.from();
        ByteBuffer bytes = memory.segment().asSlice(offset, length).asByteBuffer();
        if (Checkpoint.crc(bytes) != extent.crc()) {
            damage = "its log from " + extent.from() + " to " + extent.to() + " has another checksum";
            return;
        }
        long base = memory.segment().address() + offset - extent.from();
        fill.add(base, Math.max(extent.from(), checkpoint.begin()), extent.to());
    }
}
