package io.farheap.store.checkpoint;

import io.farheap.store.format.RecordLayout;
import io.farheap.store.log.LogGaps.Gap;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;

/**
 * A checkpoint's description, without the log itself, and its form in a file, little-endian:
 *
 * <pre>
 *  0  8  "FARSTORE"
 *  8  4  version of the format: 2
 * 12  4  layout: 0 compact, 1 general
 * 16  8  number: checkpoints of a store are counted from 1
 * 24  8  version of the records that it has, and of all before
 * 32  8  begin: the lowest address of the log that is in use
 * 40  8  end: the address behind its last record
 * 48  8  next: the address at which the recovered log continues
 * 56  8  passing: records of the next version, which are not in the checkpoint, may lie from here on
 * 64  8  buckets of the index; a recovered index needs at least so many
 * 72  8  index: the address up to which the image in the file "index-number" is complete, or -1 if there is none
 * 80  8  bytes of that file
 * 88  8  aside: the log's bytes from there to the end are in pieces, in files "snapshot-N"
 * 96  4  CRC-32C of the index's file
 * 100  4  bits of a page
 * 104  4  sessions, then each: 8 serial, 2 bytes of the name, the name in UTF-8
 *     4  gaps, then each: 8 from, 8 to, 8 last version that counts there (-1: none)
 *     4  extents, then each: 8 from, 8 to, 4 CRC-32C of the log's bytes
 *     4  pieces, then each: 8 from, 8 number of the file, 8 position in it, 4 bytes, 4 CRC-32C of these
 *     4  CRC-32C of all before
 * </pre>
 *
 * @param sessions how many operations of each session are in the checkpoint, by name
 * @param gaps parts of the log with records that do not count
 * @param index the index's size, and its image
 * @param extents parts of the log that were written, up to {@code aside}, with no gaps between them but the ends of
 *     pages
 * @param aside the address at which the part of the log that is in pieces begins; {@code end} if all of it is in
 *     extents
 */
public record Checkpoint(
        long number,
        long version,
        RecordLayout layout,
        int pageBits,
        long begin,
        long end,
        long next,
        long passing,
        Map<String, Long> sessions,
        List<Gap> gaps,
        IndexImage index,
        List<Extent> extents,
        long aside,
        List<Piece> pieces) {

    private static final long MAGIC = 0x45524f5453524146L;
    private static final int FORMAT = 2;
    private static final int FIXED = 108;
    private static final int MOST = 1 << 30;
    private static final long MOST_BUCKETS = 1L << 40;

    public record Extent(long from, long to, int crc) {}

    /** @param from the address of the log up to which the image is complete, or negative if there is no image */
    public record IndexImage(long buckets, long from, long bytes, int crc) {

        boolean there() {
            return from >= 0;
        }
    }

    /** A part of the log, within a block, that is in a file beside it. */
    public record Piece(long from, long file, long position, int bytes, int crc) {

        long to() {
            return from + bytes;
        }
    }

    /** This checkpoint after its pieces were written back to the log, as extents. */
    Checkpoint restored(List<Extent> more) {
        List<Extent> all = new ArrayList<>(extents);
        all.addAll(more);
        return new Checkpoint(
                number, version, layout, pageBits, begin, end, next, passing, sessions, gaps, index, all, end,
                List.of());
    }

    /** The content of the checkpoint's file. */
    ByteBuffer encode() {
        List<byte[]> names = new ArrayList<>();
        int bytes = FIXED + 4 * Integer.BYTES + 24 * gaps.size() + 20 * extents.size() + 32 * pieces.size();
        for (String name : sessions.keySet()) {
            byte[] utf = name.getBytes(StandardCharsets.UTF_8);
            names.add(utf);
            bytes += 10 + utf.length;
        }
        ByteBuffer to = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        to.putLong(MAGIC)
                .putInt(FORMAT)
                .putInt(layout.ordinal())
                .putLong(number)
                .putLong(version);
        to.putLong(begin).putLong(end).putLong(next).putLong(passing);
        to.putLong(index.buckets).putLong(index.from).putLong(index.bytes).putLong(aside);
        to.putInt(index.crc).putInt(pageBits);
        to.putInt(sessions.size());
        int i = 0;
        for (long serial : sessions.values()) {
            byte[] utf = names.get(i++);
            to.putLong(serial).putShort((short) utf.length).put(utf);
        }
        to.putInt(gaps.size());
        gaps.forEach(gap -> to.putLong(gap.from()).putLong(gap.to()).putLong(gap.last()));
        to.putInt(extents.size());
        extents.forEach(extent -> to.putLong(extent.from).putLong(extent.to).putInt(extent.crc));
        to.putInt(pieces.size());
        pieces.forEach(piece -> to.putLong(piece.from)
                .putLong(piece.file)
                .putLong(piece.position)
                .putInt(piece.bytes)
                .putInt(piece.crc));
        to.putInt(crc(ByteBuffer.wrap(to.array(), 0, to.position())));
        return to.flip();
    }

    /** The CRC-32C of what remains. */
    static int crc(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return (int) crc.getValue();
    }

    /**
     * @throws DamagedCheckpointException if the bytes are not as {@link #encode} returned them
     * @throws CheckpointUnavailableException if another release has made it
     */
    static Checkpoint decode(byte[] bytes) throws DamagedCheckpointException, CheckpointUnavailableException {
        if (bytes.length < FIXED + 4 || bytes.length > MOST) {
            throw new DamagedCheckpointException("it has " + bytes.length + " bytes");
        }
        ByteBuffer from = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (from.getLong() != MAGIC) {
            throw new DamagedCheckpointException("it is no checkpoint of a store");
        }
        int format = from.getInt();
        if (format != FORMAT) {
            throw new CheckpointUnavailableException("its format is of version " + format + ", and this release knows "
                    + FORMAT + ": take the release that made it");
        }
        if (from.getInt(bytes.length - 4) != crc(ByteBuffer.wrap(bytes, 0, bytes.length - 4))) {
            throw new DamagedCheckpointException("its checksum is wrong");
        }
        int layout = from.getInt();
        if (layout < 0 || layout >= RecordLayout.values().length) {
            // Its checksum is right, so it is as it was written.
            throw new CheckpointUnavailableException("its records have layout " + layout
                    + ", which this release does not know: take the release that made it");
        }
        try {
            return decode(from, RecordLayout.values()[layout]);
        } catch (RuntimeException e) {
            throw new DamagedCheckpointException("it does not add up: " + e.getMessage());
        }
    }

    private static Checkpoint decode(ByteBuffer from, RecordLayout layout) throws DamagedCheckpointException {
        long number = from.getLong();
        long version = from.getLong();
        long begin = from.getLong();
        long end = from.getLong();
        long next = from.getLong();
        long passing = from.getLong();
        long buckets = from.getLong();
        long indexFrom = from.getLong();
        long indexBytes = from.getLong();
        long aside = from.getLong();
        IndexImage index = new IndexImage(buckets, indexFrom, indexBytes, from.getInt());
        int pageBits = from.getInt();
        Map<String, Long> sessions = new TreeMap<>();
        for (int left = from.getInt(); left > 0; left--) {
            long serial = from.getLong();
            byte[] name = new byte[Short.toUnsignedInt(from.getShort())];
            from.get(name);
            sessions.put(new String(name, StandardCharsets.UTF_8), serial);
        }
        List<Gap> gaps = new ArrayList<>();
        for (int left = from.getInt(); left > 0; left--) {
            gaps.add(new Gap(from.getLong(), from.getLong(), from.getLong()));
        }
        List<Extent> extents = new ArrayList<>();
        for (int left = from.getInt(); left > 0; left--) {
            extents.add(new Extent(from.getLong(), from.getLong(), from.getInt()));
        }
        List<Piece> pieces = new ArrayList<>();
        for (int left = from.getInt(); left > 0; left--) {
            pieces.add(new Piece(from.getLong(), from.getLong(), from.getLong(), from.getInt(), from.getInt()));
        }
        boolean ordered = begin <= aside && aside <= end && end <= next;
        boolean sized = Long.bitCount(buckets) == 1 && buckets <= MOST_BUCKETS && pageBits >= 12 && pageBits <= 26;
        if (from.remaining() != 4 || !ordered || !sized) {
            throw new DamagedCheckpointException("it does not add up");
        }
        return new Checkpoint(
                number, version, layout, pageBits, begin, end, next, passing, sessions, gaps, index, extents, aside,
                pieces);
    }
}
