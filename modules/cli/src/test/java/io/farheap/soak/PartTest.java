package io.farheap.soak;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

/** What the soak takes for right, and what for wrong. */
class PartTest {

    private static final long ADDRESS = 1_000;
    private static final int BYTES = 256;

    private final Piece piece = new Piece(ADDRESS, BYTES);
    private final Word word = new Word(ADDRESS);

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
        Request first = write(10, 1);
        Request read = begin(piece, false);
        Request second = write(10, 2);
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
        Request write = write(10, 1);
        piece.refused(write);
        assertNull(read(10, 0));
        assertNotNull(read(10, 1));
    }

    @Test
    void aWordIsNoOlderThanWhatWasSeen() {
        Request first = begin(word, true);
        Request second = begin(word, true);
        assertNull(word.finished(second, true));
        assertNull(readWord(second.value));
        assertNotNull(readWord(first.value));
    }

    @Test
    void aWordWasWrittenByItsWriter() {
        Request write = begin(word, true);
        assertNotNull(readWord(write.value + 1));
        assertNotNull(readWord(write.value ^ 1L << 40));
        Request other = begin(new Word(2 * ADDRESS), true);
        assertNotNull(readWord(other.value));
    }

    private static Request begin(Part part, boolean write) {
        Request request = new Request(null, 0);
        request.onHeap = true;
        request.all(part, write);
        part.issuing(request);
        return request;
    }

    private Request write(int at, int value) {
        Request request = new Request(null, 0);
        request.onHeap = true;
        request.all(piece, true);
        request.addresses[0] += at;
        request.length = 1;
        request.data().set(JAVA_BYTE, 0, (byte) value);
        piece.issuing(request);
        return request;
    }

    private void done(Request write) {
        assertNull(piece.finished(write, true));
    }

    private String read(int at, int value) {
        Request read = begin(piece, false);
        read.data().set(JAVA_BYTE, at, (byte) value);
        return piece.finished(read, true);
    }

    private String settle(int at, int value) {
        Request read = begin(piece, false);
        read.data().set(JAVA_BYTE, at, (byte) value);
        return piece.settle(read);
    }

    private String readWord(long value) {
        Request read = begin(word, false);
        read.data().set(JAVA_LONG_UNALIGNED, 0, value);
        return word.finished(read, true);
    }
}
