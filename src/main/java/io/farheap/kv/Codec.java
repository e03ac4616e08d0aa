package io.farheap.kv;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Makes bytes of keys or values, and the other way round. Any thread. Keys that are equal have equal bytes, and others
 * have others.
 */
public interface Codec<T> {

    /** Text in UTF-8. */
    Codec<String> STRING = new Codec<>() {
        @Override
        public byte[] encode(String value) {
            return value.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public String decode(byte[] bytes) {
            return new String(bytes, StandardCharsets.UTF_8);
        }
    };

    /** Bytes as they are; nobody may change them afterwards. */
    Codec<byte[]> BYTES = new Codec<>() {
        @Override
        public byte[] encode(byte[] value) {
            return value;
        }

        @Override
        public byte[] decode(byte[] bytes) {
            return bytes;
        }
    };

    /** A number of 8 bytes, little-endian, which {@link TypedMap#increment} adds to. */
    Codec<Long> LONG = new Codec<>() {
        @Override
        public byte[] encode(Long value) {
            return ByteBuffer.allocate(Long.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(value)
                    .array();
        }

        @Override
        public Long decode(byte[] bytes) {
            if (bytes.length != Long.BYTES) {
                throw new IllegalArgumentException("a number of " + bytes.length
                        + " bytes; it has 8: read a value with the codec that it was stored with");
            }
            return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
        }
    };

    /** Never null. */
    byte[] encode(T value);

    /**
     * Of bytes that {@link #encode} has made, never null.
     *
     * @throws IllegalArgumentException where they are others'
     */
    T decode(byte[] bytes);
}
