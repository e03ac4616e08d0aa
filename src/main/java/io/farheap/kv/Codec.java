package io.farheap.kv;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Encodes keys or values as bytes, and decodes them. Any thread may call. Equal keys must have equal bytes, and
 * different keys different bytes.
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

    /** Bytes as they are. The caller must not change an array after passing it. */
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

    /** A number as 8 bytes, little-endian, which {@link TypedMap#increment} can add to. */
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

    /** The bytes of a value; never null. */
    byte[] encode(T value);

    /**
     * The value of bytes that {@link #encode} has made; never null.
     *
     * @throws IllegalArgumentException if {@link #encode} did not make these bytes
     */
    T decode(byte[] bytes);
}
