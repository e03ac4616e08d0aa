package io.farheap.procedure.service;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.farheap.procedure.format.CallFormat;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Class files and maps in pieces: pieces come in order, of one upload at a time, and not beyond its stated length. */
class UploadsTest {

    private static final int MOST = 100;

    private final Uploads upload = new Uploads();

    private static byte[] bytes(int... values) {
        byte[] all = new byte[values.length];
        for (int i = 0; i < all.length; i++) {
            all[i] = (byte) values[i];
        }
        return all;
    }

    private void refused(int id, int length, int at, byte[] piece) {
        assertThrows(IllegalArgumentException.class, () -> upload.classFile(id, length, at, piece));
    }

    private void refused(long version, int all, int at, int... piece) {
        assertThrows(IllegalArgumentException.class, () -> upload.map(version, all, at, piece, MOST));
    }

    @Test
    void piecesBecomeAFile() {
        assertArrayEquals(bytes(9), upload.classFile(1, 1, 0, bytes(9)));
        assertNull(upload.classFile(2, 3, 0, bytes(1)));
        assertNull(upload.classFile(2, 3, 1, bytes()));
        assertNull(upload.classFile(2, 3, 1, bytes(2)));
        assertArrayEquals(bytes(1, 2, 3), upload.classFile(2, 3, 2, bytes(3)));
        // The upload was dropped.
        refused(2, 3, 3, bytes());
        refused(2, 3, 2, bytes(3));
    }

    @Test
    void aFileBeginsAnew() {
        assertNull(upload.classFile(1, 4, 0, bytes(1, 1)));
        assertNull(upload.classFile(1, 2, 0, bytes(5)));
        assertArrayEquals(bytes(5, 6), upload.classFile(1, 2, 1, bytes(6)));
    }

    @Test
    void whatDoesNotFollowIsRefusedAndWhatWasThereStays() {
        refused(1, 4, 2, bytes(1));
        assertNull(upload.classFile(1, 4, 0, bytes(1, 2)));
        refused(1, 4, 1, bytes(1));
        refused(1, 4, 3, bytes(1));
        refused(1, 4, -1, bytes(1));
        refused(1, 4, Integer.MIN_VALUE, bytes(1));
        refused(2, 4, 2, bytes(1));
        refused(1, 5, 2, bytes(1));
        refused(1, 4, 2, bytes(1, 2, 3));
        assertArrayEquals(bytes(1, 2, 3, 4), upload.classFile(1, 4, 2, bytes(3, 4)));
    }

    @Test
    void aFileHasALength() {
        refused(1, 0, 0, bytes());
        refused(1, -1, 0, bytes());
        refused(1, CallFormat.MOST_CLASS_BYTES + 1, 0, bytes(1));
        refused(1, Integer.MAX_VALUE, 0, bytes(1));
        refused(1, 1, 0, bytes(1, 2));
        assertNull(upload.classFile(1, CallFormat.MOST_CLASS_BYTES, 0, bytes(1)));
    }

    @Test
    void piecesBecomeAMap() {
        assertArrayEquals(new int[0], upload.map(1, 0, 0, new int[0], MOST));
        assertNull(upload.map(2, 3, 0, new int[] {7, -1}, MOST));
        refused(3, 3, 2, 5);
        refused(2, 4, 2, 5);
        refused(2, 3, 1, 5);
        refused(2, 3, 2, 5, 6);
        refused(2, 3, -2, 5);
        assertArrayEquals(new int[] {7, -1, 5}, upload.map(2, 3, 2, new int[] {5}, MOST));
        refused(2, 3, 3);
        refused(4, MOST + 1, 0, 1);
        refused(4, -1, 0, 1);
        assertNull(upload.map(4, MOST, 0, new int[] {1}, MOST));
    }

    /** A client may state any length: memory is allocated only for the bytes that have come. */
    @Test
    void whatIsSaidToComeTakesNoMemory() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int most = 1 << 20;
        int times = 100;
        upload.map(0, most, 0, new int[] {1}, most);
        upload.classFile(0, CallFormat.MOST_CLASS_BYTES, 0, bytes(1));
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < times; i++) {
            assertNull(upload.map(i, most, 0, new int[] {1}, most));
            assertNull(upload.classFile(i, CallFormat.MOST_CLASS_BYTES, 0, bytes(1)));
        }
        long each = (threads.getCurrentThreadAllocatedBytes() - before) / times;
        assertTrue(each < 4096, each + " bytes for a piece of each");
    }

    @Test
    void aLongMapComesWhole() {
        int all = 100_000;
        int[] regions = IntStream.range(0, all).map(i -> i * 7 - 3).toArray();
        int[] whole = null;
        for (int at = 0, next = 1; whole == null; at = next, next = Math.min(all, next * 2 + 3)) {
            whole = upload.map(9, all, at, Arrays.copyOfRange(regions, at, next), all);
        }
        assertArrayEquals(regions, whole);
    }

    @Test
    void aMapAndAFileDoNotMeet() {
        assertNull(upload.classFile(1, 2, 0, bytes(1)));
        assertNull(upload.map(1, 2, 0, new int[] {1}, MOST));
        assertArrayEquals(bytes(1, 2), upload.classFile(1, 2, 1, bytes(2)));
        assertArrayEquals(new int[] {1, 2}, upload.map(1, 2, 1, new int[] {2}, MOST));
    }
}
