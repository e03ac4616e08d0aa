package io.farheap.store;

import io.farheap.lifetime.CloseStack;
import io.farheap.memory.SharedMemory;
import io.farheap.tier.Device;
import io.farheap.tier.DeviceHandle;
import io.farheap.tier.DeviceMemory;
import io.farheap.tier.IoStatus;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Brings an index back from a checkpoint: reads its log from the beginning, or from where an image of the index has it,
 * to the end, several pages at a time, checks every part's checksum, and lets each entry point to its last record.
 */
final class Recovery {

    private static final int READS = 8;
    /** Records whose buckets are touched together, so that the misses overlap. */
    private static final int GROUP = 64;
    /** The index does not grow while it is filled. */
    private static final Chains NO_CHAINS = (address, bit, set) -> address;

    private final Checkpoint checkpoint;
    private final Device device;
    private final HashIndex index;
    private final Layout layout;
    private final Gaps gaps;
    private final Key key;
    private final long pageBytes;
    private final long[] hashes = new long[GROUP];
    private final long[] addresses = new long[GROUP];
    /** So that a load is not taken for one without an effect. */
    @SuppressWarnings("unused")
    private long touched;

    private String damage = "";

    private Recovery(Checkpoint checkpoint, Device device, HashIndex index, Gaps gaps) {
        this.checkpoint = checkpoint;
        this.device = device;
        this.index = index;
        this.gaps = gaps;
        this.layout = checkpoint.layout();
        this.key = new Key(layout);
        this.pageBytes = 1L << checkpoint.pageBits();
    }

    /** What does not count of the log once the checkpoint is recovered. */
    static Gaps gaps(Checkpoint checkpoint) {
        List<Checkpoint.Gap> all = new ArrayList<>(checkpoint.gaps());
        all.add(new Checkpoint.Gap(checkpoint.passing(), checkpoint.end(), checkpoint.version()));
        all.add(new Checkpoint.Gap(checkpoint.end(), checkpoint.next(), -1));
        all.removeIf(gap -> gap.from() >= gap.to());
        return new Gaps(all);
    }

    /**
     * @param index which has what was published below {@code from}
     * @throws DamagedException where the log is not as it was when the checkpoint was made; the index is of no use then
     */
    static void index(Checkpoint checkpoint, Device device, HashIndex index, Gaps gaps, long from)
            throws DamagedException {
        new Recovery(checkpoint, device, index, gaps).run(from);
    }

    private void run(long from) throws DamagedException {
        try (CloseStack resources = new CloseStack()) {
            SharedMemory memory = resources.add(SharedMemory.allocate("farheap-store-recovery", READS * pageBytes));
            DeviceMemory registered = resources.add(device.register(memory.segment()));
            DeviceHandle handle = resources.add(device.open());
            List<Checkpoint.Extent> extents = checkpoint.extents().stream()
                    .filter(extent -> extent.to() > from)
                    .toList();
            boolean[] read = new boolean[READS];
            int next = 0;
            // Records are looked at in the order of the log: the last of a chain counts.
            for (int at = 0; at < extents.size() && damage.isEmpty(); at++) {
                while (next < extents.size()
                        && next < at + READS
                        && read(extents.get(next), next, handle, registered, read)) {
                    next++;
                }
                while (!read[at % READS] && damage.isEmpty()) {
                    if (handle.poll() == 0) {
                        handle.awaitProgress();
                    }
                }
                if (damage.isEmpty()) {
                    look(extents.get(at), memory, at % READS);
                }
            }
        }
        if (!damage.isEmpty()) {
            throw new DamagedException(damage);
        }
    }

    private boolean read(
            Checkpoint.Extent extent, int number, DeviceHandle handle, DeviceMemory registered, boolean[] read) {
        long alignment = device.alignment();
        long from = extent.from() & -alignment;
        long to = extent.to() + alignment - 1 & -alignment;
        int place = number % READS;
        read[place] = false;
        if (extent.from() >= extent.to() || (extent.from() & -pageBytes) != (extent.to() - 1 & -pageBytes)) {
            damage = "a part of its log goes from " + extent.from() + " to " + extent.to();
            return false;
        }
        return handle.read(
                from,
                registered,
                place * pageBytes,
                to - from,
                (token, status) -> {
                    if (status == IoStatus.OK) {
                        read[place] = true;
                    } else {
                        damage =
                                "its log from " + extent.from() + " on could not be read: " + IoStatus.describe(status);
                    }
                },
                number);
    }

    private void look(Checkpoint.Extent extent, SharedMemory memory, int place) {
        long offset = place * pageBytes + (extent.from() & device.alignment() - 1);
        long length = extent.to() - extent.from();
        ByteBuffer bytes = memory.segment().asSlice(offset, length).asByteBuffer();
        if (Checkpoint.crc(bytes) != extent.crc()) {
            damage = "its log from " + extent.from() + " to " + extent.to() + " has another checksum";
            return;
        }
        long base = memory.segment().address() + offset - extent.from();
        int count = 0;
        for (long address = Math.max(extent.from(), checkpoint.begin());
                address + Layout.LEAST_RECORD <= extent.to(); ) {
            long record = base + address;
            long header = Words.get(record);
            if (header == 0) {
                break;
            }
            long recordBytes = layout.recordBytes(record);
            if ((header & Record.INVALID) == 0 && gaps.counts(address, header)) {
                key.useOf(record);
                hashes[count] = key.hash;
                addresses[count++] = address;
                if (count == GROUP) {
                    index(count);
                    count = 0;
                }
            }
            address += recordBytes;
        }
        index(count);
    }

    /** Lets the entries of so many records point to them, in their order. */
    private void index(int count) {
        IndexTable table = index.newest();
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += Words.get(table.bucket(hashes[i]));
        }
        touched = sum;
        for (int i = 0; i < count; i++) {
            long entry = index.findOrInsert(hashes[i], NO_CHAINS);
            Words.set(entry, HashIndex.pointing(Words.get(entry), addresses[i]));
        }
    }
}
