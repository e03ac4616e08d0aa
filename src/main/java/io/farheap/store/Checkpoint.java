package io.farheap.store;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;

/**
 * What a checkpoint remembers beside the log itself, and its form in a file, little-endian:
 *
 * <pre>
 *  0  8  "FARSTORE"
 *  8  4  version of the format: 1
 * 12  4  layout: 0 compact, 1 general
 * 16  8  number: checkpoints of a store are counted from 1
 * 24  8  version of the records that it has, and of all before
 * 32  8  begin: the log's first address that is in use
 * 40  8  end: the address behind its last record
 * 48  8  next: where the log goes on
 * 56  8  where records of the next version may begin, which are not in it
 * 64  4  bits of a page
 * 68  4  sessions, then each: 8 serial, 2 bytes of the name, the name in UTF-8
 *     4  gaps, then each: 8 from, 8 to, 8 last version that counts there (-1: none)
 *     4  extents, then each: 8 from, 8 to, 4 CRC-32C of the log's bytes
 *     4  CRC-32C of all before
 * </pre>
 *
 * @param sessions by name, how many of each session's operations are in it
 * @param gaps parts of the log that have records which do not count
 * @param extents parts of the log that were written, with no gap but the ends of pages between them
 */
record Checkpoint(
        long number,
        long version,
        Layout layout,
        int pageBits,
        long begin,
        long end,
        long next,
        long passing,
        Map<String, Long> sessions,
        List<Gap> gaps,
        List<Extent> extents) {

    private static final long MAGIC = 0x45524f5453524146L;
    private static final int FORMAT = 1;
    private static final int FIXED = 72;
    private static final int MOST = 1 << 28;

    /** Of the log, from {@code from} to {@code to}: records of later versions than {@code last} do not count. */
    record Gap(long from, long to, long last) {}

    record Extent(long from, long to, int crc) {}

    ByteBuffer encode() {
        List<byte[]> names = new ArrayList<>();
        int bytes = FIXED + 3 * Integer.BYTES + 24 * gaps.size() + 20 * extents.size();
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
        to.putLong(begin).putLong(end).putLong(next).putLong(passing).putInt(pageBits);
        to.putInt(sessions.size());
        int i = 0;
        for (long serial : sessions.values()) {
            byte[] utf = names.get(i++);
            to.putLong(serial).putShort((short) utf.length).put(utf);
        }
        to.putInt(gaps.size());
        gaps.forEach(gap -> to.putLong(gap.from).putLong(gap.to).putLong(gap.last));
        to.putInt(extents.size());
        extents.forEach(extent -> to.putLong(extent.from).putLong(extent.to).putInt(extent.crc));
        to.putInt(crc(to.array(), to.position()));
        return to.flip();
    }

    private static int crc(byte[] bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (int) crc.getValue();
    }

    /** @throws DamagedException where it is not what {@link #encode} has made */
    static Checkpoint decode(byte[] bytes) throws DamagedException {
        if (bytes.length < FIXED + 4 || bytes.length > MOST) {
            throw new DamagedException("it has " + bytes.length + " bytes");
        }
        ByteBuffer from = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (from.getLong() != MAGIC) {
            throw new DamagedException("it is no checkpoint of a store");
        }
        int format = from.getInt();
        if (format != FORMAT) {
            throw new DamagedException("its format is of version " + format + ", and this release knows " + FORMAT);
        }
        if (from.getInt(bytes.length - 4) != crc(bytes, bytes.length - 4)) {
            throw new DamagedException("its checksum is wrong");
        }
        try {
            return decode(from);
        } catch (RuntimeException e) {
            throw new DamagedException("it does not add up: " + e.getMessage());
        }
    }

    private static Checkpoint decode(ByteBuffer from) throws DamagedException {
        int layout = from.getInt();
        if (layout < 0 || layout >= Layout.values().length) {
            throw new DamagedException("its layout is " + layout);
        }
        long number = from.getLong();
        long version = from.getLong();
        long begin = from.getLong();
        long end = from.getLong();
        long next = from.getLong();
        long passing = from.getLong();
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
        if (from.remaining() != 4 || begin > end || end > next || pageBits < 12 || pageBits > 26) {
            throw new DamagedException("it does not add up");
        }
        return new Checkpoint(
                number, version, Layout.values()[layout], pageBits, begin, end, next, passing, sessions, gaps, extents);
    }
}
