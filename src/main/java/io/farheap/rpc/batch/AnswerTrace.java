package io.farheap.rpc.batch;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.memory.NativeMemory;
import io.farheap.rpc.RingShape;
import java.lang.foreign.MemorySegment;

/**
 * Compares each accepted answer with its slot once more, at least a millisecond later: no word may have changed, since
 * the server may write to the slot again only after the next batch of requests for it has been sent. So the trace
 * detects an answer that was accepted while a part of it was still on its way, even if its checksum matched. It does
 * not compare the last answers of a connection, whose slots are not used again.
 *
 * <p>On with {@code -Dfarheap.trace.answers=true}; otherwise it costs nothing. It makes batches slow.
 */
final class AnswerTrace {

    static final boolean ENABLED = Boolean.getBoolean("farheap.trace.answers");

    private static final System.Logger LOG = System.getLogger(AnswerTrace.class.getName());
    private static final long LATER_NANOS = 1_000_000;
    private static final int WORD = Long.BYTES;

    private static final class TracedAnswer {
        long sequence;
        long accepted;
        int words;
        final long[] taken;

        TracedAnswer(int words) {
            taken = new long[words];
        }
    }

    private final MemorySegment ring;
    private final TracedAnswer[] answers;

    /** @param ring the client's ring, of answers */
    AnswerTrace(MemorySegment ring, RingShape shape) {
        this.ring = ring;
        answers = new TracedAnswer[shape.slots()];
        for (int i = 0; i < answers.length; i++) {
            answers[i] = new TracedAnswer(shape.responseSlotBytes() / WORD);
        }
    }

    /** Notes an accepted answer; {@link #read} then notes the bytes of its reads. */
    void accept(int slot, long at, long sequence, int bytes) {
        TracedAnswer answer = answers[slot];
        answer.sequence = sequence;
        answer.words = bytes / WORD;
        for (int i = 0; i < answer.words; i++) {
            answer.taken[i] = ring.get(JAVA_LONG, at + (long) i * WORD);
        }
        answer.accepted = System.nanoTime();
    }

    /** Notes the bytes of one read as they were copied: these were accepted, and the slot may hold others by now. */
    void read(int slot, long at, long local, int bytes) {
        long[] taken = answers[slot].taken;
        for (int i = 0; i < bytes; i += WORD) {
            int left = Math.min(WORD, bytes - i);
            long value = 0;
            for (int b = left - 1; b >= 0; b--) {
                value = value << Byte.SIZE | Byte.toUnsignedLong(NativeMemory.ALL.get(JAVA_BYTE, local + i + b));
            }
            taken[(int) (at + i) / WORD] = value;
        }
    }

    /**
     * Compares the slot's last answer, before the server may write to it again; waits until a millisecond has passed
     * since it was accepted.
     *
     * @throws IllegalStateException if a word differs from the accepted one
     */
    void check(int slot, long at) {
        TracedAnswer answer = answers[slot];
        if (answer.words == 0) {
            return;
        }
        while (System.nanoTime() - answer.accepted < LATER_NANOS) {
            Thread.onSpinWait();
        }
        int words = answer.words;
        answer.words = 0;
        for (int i = 0; i < words; i++) {
            long there = ring.get(JAVA_LONG, at + (long) i * WORD);
            if (there != answer.taken[i]) {
                String torn = "the answer to batch " + answer.sequence
                        + " was accepted before all of it was there: word " + i + " of " + words + " was "
                        + Long.toHexString(answer.taken[i]) + " then, and is " + Long.toHexString(there) + " now";
                // Logged too, since the sender may drop the exception.
                LOG.log(System.Logger.Level.ERROR, torn);
                throw new IllegalStateException(torn);
            }
        }
    }
}
