package io.farheap.ycsb;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;

/**
 * A record's fields, one after another: 2 bytes with the length of the name, 4 with that of the value, the name in
 * UTF-8, the value. Lengths are in the machine's order, as these bytes never leave it.
 */
final class YcsbFields {

    private static final int LENGTHS = Short.BYTES + Integer.BYTES;
    private static final int MAX_NAME = (1 << 16) - 1;

    private YcsbFields() {}

    /** Returns the length of a field's name. */
    static int nameBytes(MemorySegment fields, long at) {
        return Short.toUnsignedInt(fields.get(JAVA_SHORT_UNALIGNED, at));
    }

    static int valueBytes(MemorySegment fields, long at) {
        return fields.get(JAVA_INT_UNALIGNED, at + Short.BYTES);
    }

    static long nameAt(long at) {
        return at + LENGTHS;
    }

    static long valueAt(MemorySegment fields, long at) {
        return nameAt(at) + nameBytes(fields, at);
    }

    /** Returns the offset of the next field. */
    static long next(MemorySegment fields, long at) {
        return valueAt(fields, at) + valueBytes(fields, at);
    }

    /** @return bytes that the encoded fields take */
    static int bytes(Map<String, byte[]> values) {
        long bytes = 0;
        for (Map.Entry<String, byte[]> field : values.entrySet()) {
            bytes += LENGTHS + field.getKey().getBytes(StandardCharsets.UTF_8).length + field.getValue().length;
        }
        return Math.toIntExact(bytes);
    }

    /** @param into has room for {@link #bytes} */
    static void encode(Map<String, byte[]> values, MemorySegment into) {
        long at = 0;
        for (Map.Entry<String, byte[]> field : values.entrySet()) {
            byte[] name = field.getKey().getBytes(StandardCharsets.UTF_8);
            if (name.length > MAX_NAME) {
                throw new IllegalArgumentException(
                        "a field's name of " + name.length + " bytes; it has " + MAX_NAME + " at most");
            }
            byte[] value = field.getValue();
            into.set(JAVA_SHORT_UNALIGNED, at, (short) name.length);
            into.set(JAVA_INT_UNALIGNED, at + Short.BYTES, value.length);
            MemorySegment.copy(name, 0, into, JAVA_BYTE, nameAt(at), name.length);
            MemorySegment.copy(value, 0, into, JAVA_BYTE, nameAt(at) + name.length, value.length);
            at += LENGTHS + name.length + value.length;
        }
    }

    /** @param wanted names, or null for all */
    static void decode(MemorySegment from, long bytes, @Nullable Set<String> wanted, Map<String, ByteIterator> into) {
        for (long at = 0; at < bytes; at = next(from, at)) {
            byte[] name = from.asSlice(nameAt(at), nameBytes(from, at)).toArray(JAVA_BYTE);
            String field = new String(name, StandardCharsets.UTF_8);
            if (wanted == null || wanted.contains(field)) {
                into.put(
                        field,
                        new ByteArrayByteIterator(from.asSlice(valueAt(from, at), valueBytes(from, at))
                                .toArray(JAVA_BYTE)));
            }
        }
    }

    /**
     * Finds the field of a given name.
     *
     * @param wanted offset in {@code names} of the field with that name
     * @return its offset, or -1 if there is none
     */
    static long find(MemorySegment fields, long from, long to, MemorySegment names, long wanted) {
        int nameBytes = nameBytes(names, wanted);
        for (long at = from; at < to; at = next(fields, at)) {
            if (nameBytes(fields, at) == nameBytes
                    && MemorySegment.mismatch(
                                    fields,
                                    nameAt(at),
                                    nameAt(at) + nameBytes,
                                    names,
                                    nameAt(wanted),
                                    nameAt(wanted) + nameBytes)
                            < 0) {
                return at;
            }
        }
        return -1;
    }
}
