package io.farheap.store.checkpoint;

import io.farheap.store.checkpoint.Checkpoint.IndexImage;
import io.farheap.store.index.HashIndex;
import io.farheap.store.index.IndexTable;
import io.farheap.store.index.RecordCopies;
import io.farheap.store.log.ReadCache;
import io.farheap.store.operation.StoreContext;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * Images of an index, in files {@code index-N}: for each bucket its entries, of 8 bytes, little-endian, with the tag
 * and the address as in {@link HashIndex}, then 8 bytes of 0.
 *
 * <p>An image is made bucket by bucket while sessions use the store. It has all records that were published below the
 * tail at its beginning, and some later ones. So recovery, which then applies the log from that tail on in its order,
 * ends with the complete index (FASTER, section 6.5).
 */
public final class IndexFiles {

    /** How many buckets are read inside one epoch. */
    private static final int BATCH = 64;

    private static final int BUFFER = 1 << 16;

    private final StableFiles files;
    private final StoreContext parts;

    private final ByteBuffer batch = ByteBuffer.allocate(BUFFER).order(ByteOrder.LITTLE_ENDIAN);
    private final CRC32C crc = new CRC32C();
    private long bytes;
    private ByteBuffer entries = batch;

    IndexFiles(StableFiles files, StoreContext parts) {
        this.files = files;
        this.parts = parts;
    }

    static String name(long number) {
        return "index-" + number;
    }

    /** The description of a missing image, of an index with so many buckets. */
    public static IndexImage none(long buckets) {
        return new IndexImage(buckets, -1, 0, 0);
    }

    /** @return the image, or {@link #none} if the index grew meanwhile */
    IndexImage write(long number) throws IOException {
        IndexTable table = parts.index().quiet();
        if (table == null) {
            return none(parts.index().buckets());
        }
        long from = parts.log().tail();
        // After this, every record that was allocated below the tail has been published.
        parts.epochs().awaitAll();
        crc.reset();
        bytes = 0;
        int place = parts.epochs().take();
        try (StableFiles.Output output = files.create(name(number))) {
            for (long bucket = 0; bucket < table.buckets; bucket += BATCH) {
                if (!batch(table, bucket, place)) {
                    return none(parts.index().buckets());
                }
                put(output, entries.flip());
            }
            output.commit();
        } finally {
            parts.epochs().giveBack(place);
        }
        return new IndexImage(table.buckets, from, bytes, (int) crc.getValue());
    }

    private boolean batch(IndexTable table, long first, int place) {
        entries = batch.clear();
        parts.epochs().enter(place);
        try {
            for (long bucket = first; bucket < Math.min(first + BATCH, table.buckets); bucket++) {
                if (!parts.index().show(table, bucket, this::add)) {
                    return false;
                }
                add(0);
            }
            return true;
        } finally {
            parts.epochs().leave(place);
        }
    }

    private void add(long word) {
        if (entries.remaining() < Long.BYTES) {
            entries = ByteBuffer.allocate(2 * entries.capacity())
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .put(entries.flip());
        }
        ReadCache cache = parts.cache();
        if (cache != null && RecordCopies.marks(word)) {
            // The read cache is not in the image: the entry points to the chain behind the copy.
            entries.putLong(HashIndex.pointing(word, cache.behind(HashIndex.address(word))));
        } else {
            entries.putLong(word);
        }
    }

    private void put(StableFiles.Output output, ByteBuffer what) throws IOException {
        crc.update(what.duplicate());
        bytes += what.remaining();
        output.write(what);
    }

    /**
     * @return the index, without entries that point below the log's beginning
     * @throws DamagedCheckpointException if the file is not as it was written
     */
    static HashIndex read(StableFiles files, Checkpoint checkpoint) throws DamagedCheckpointException {
        IndexImage image = checkpoint.index();
        HashIndex index = new HashIndex(image.buckets());
        try (StableFiles.Input input = files.open(name(checkpoint.number()))) {
            if (input.bytes() != image.bytes()) {
                throw new DamagedCheckpointException(name(checkpoint.number()) + " has " + input.bytes() + " bytes");
            }
            ByteBuffer buffer = ByteBuffer.allocate(BUFFER).order(ByteOrder.LITTLE_ENDIAN);
            CRC32C crc = new CRC32C();
            long bucket = 0;
            for (long at = 0; at < image.bytes(); at += buffer.limit()) {
                buffer.clear().limit((int) Math.min(BUFFER, image.bytes() - at));
                input.read(at, buffer);
                crc.update(buffer.flip());
                buffer.rewind();
                while (buffer.remaining() >= Long.BYTES) {
                    long word = buffer.getLong();
                    if (word == 0) {
                        bucket++;
                    } else if (HashIndex.address(word) >= checkpoint.begin()) {
                        index.put(bucket, word);
                    }
                }
            }
            if ((int) crc.getValue() != image.crc()) {
                throw new DamagedCheckpointException(name(checkpoint.number()) + " has another checksum");
            }
            return index;
        } catch (IOException e) {
            index.close();
            throw new DamagedCheckpointException(name(checkpoint.number()) + " cannot be read: " + e.getMessage());
        } catch (Throwable e) {
            index.close();
            throw e;
        }
    }
}
