package io.farheap.kv.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Packs the bytes of a text into words of a call: little-endian, the last word padded with zeros. */
public final class TextWords {

    private TextWords() {}

    /** Puts a text into words, beginning at {@code at}. @return how many words it takes */
    public static int words(byte[] text, long[] into, int at) {
        int words = Math.ceilDiv(text.length, Long.BYTES);
        ByteBuffer padded = ByteBuffer.allocate(words * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        padded.put(text).rewind();
        for (int i = 0; i < words; i++) {
            into[at + i] = padded.getLong();
        }
        return words;
    }

    /** The text of {@code bytes} bytes that begins at word {@code at}. */
    public static byte[] bytes(long[] words, int at, int bytes) {
        int count = Math.ceilDiv(bytes, Long.BYTES);
        ByteBuffer padded = ByteBuffer.allocate(count * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            padded.putLong(words[at + i]);
        }
        byte[] text = new byte[bytes];
        padded.rewind().get(text);
        return text;
    }
}
