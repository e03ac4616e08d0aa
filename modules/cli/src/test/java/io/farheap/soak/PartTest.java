package io.farheap.soak;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

/** The bytes that the soak accepts as right, and those that it reports as wrong. */
class PartTest {

    private static final long ADDRESS = 1_000;
    private static final int BYTES = 256;

    private final WorkerPiece piece = new WorkerPiece(ADDRESS, BYTES);
    private final SharedWord word = new SharedWord(ADDRESS);

    @Test
    void oneWrongByteOfAReadIsFound() {
        done(write(10, 1));
        assertNull(read(10, 1));
        assertNotNull(read(10, 2));
        assertNotNull(read(10, 0));
        assertNotNull(read(11, 1));
    }

    @Test
    void aReadReturnsWhatWasIssuedBeforeIt() {
        SoakRequest first = write(10, 1);
        SoakRequest read = begin(piece, false);
        SoakRequest second = write(10, 2);
        read.data().set(JAVA_BYTE, 10, (byte) 1);
        done(first);
        assertNull(piece.finished(read, true));
        done(second);
        assertNotNull(read(10, 1));
    }

    @Test
    void afterAFailedWriteAByteIsOldOrNew() {
        done(write(10, 1));
        piece.finished(write(10, 2), false);
        assertNull(read(10, 1));
        assertNull(read(10, 2));
        assertNotNull(settle(10, 3));
        assertNull(settle(10, 1));
        assertNotNull(settle(10, 2));
    }

    @Test
    void aWriteThatTookEffectBehindAFailedOneCounts() {
        piece.finished(write(10, 1), false);
        done(write(10, 2));
        assertNotNull(settle(10, 0));
        assertNotNull(settle(10, 1));
        assertNull(settle(10, 2));
    }

    @Test
    void aRefusedWriteChangesNothing() {
        SoakRequest write = write(10, 1);
        piece.refused(write);
        assertNull(read(10, 0));
        assertNotNull(read(10, 1));
    }

    @Test
    void aWordIsNoOlderThanWhatWasSeen() {
        SoakRequest first = begin(word, true);
        SoakRequest second = begin(word, true);
        assertNull(word.finished(second, true));
        assertNull(readWord(second.value));
        assertNotNull(readWord(first.value));
    }

    @Test
    void aWordWasWrittenByItsWriter() {
        SoakRequest write = begin(word, true);
        assertNotNull(readWord(write.value + 1));
        assertNotNull(readWord(write.value ^ 1L << 40));
        SoakRequest other = begin(new SharedWord(2 * ADDRESS), true);
        assertNotNull(readWord(other.value));
    }

    private static SoakRequest begin(CachePart part, boolean write) {
        SoakRequest request = new SoakRequest(null, 0);
        request.onHeap = true;
        request.all(part, write);
        part.issuing(request);
        return request;
    }

    private SoakRequest write(int at, int value) {
        SoakRequest request = new SoakRequest(null, 0);
        request.onHeap = true;
        request.all(piece, true);
        request.addresses[0] += at;
        request.length = 1;
        request.data().set(JAVA_BYTE, 0, (byte) value);
        piece.issuing(request);
        return request;
    }

    private void done(SoakRequest write) {
        assertNull(piece.finished(write, true));
    }

    private String read(int at, int value) {
        SoakRequest read = begin(piece, false);
        read.data().set(JAVA_BYTE, at, (byte) value);
        return piece.finished(read, true);
    }

    private String settle(int at, int value) {
        SoakRequest read = begin(piece, false);
        read.data().set(JAVA_BYTE, at, (byte) value);
        return piece.settle(read);
    }

    private String readWord(long value) {
        SoakRequest read = begin(word, false);
        read.data().set(JAVA_LONG_UNALIGNED, 0, value);
        return word.finished(read, true);
    }
}
