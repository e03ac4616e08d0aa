package io.farheap.kv.space;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.MapException;
import io.farheap.remote.contract.CompletionHandler;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/**
 * Numbers of sessions from servers of which some hang, are lost or lose connections. The second server is the first.
 */
class SessionCounterTest {

    private static final int FIRST = 1;

    private final HeldWords words = new HeldWords(4);

    private static final class HeldWords implements CounterWords {

        private final long[] present;
        private final long[] old;
        private final BitSet hangs = new BitSet();
        private final BitSet lost = new BitSet();
        /** Servers the connections to which fail at the next operation. */
        private final BitSet breaks = new BitSet();

        private final Queue<long[]> ended = new ArrayDeque<>();

        HeldWords(int servers) {
            present = new long[servers];
            old = new long[servers];
        }

        @Override
        public int first() {
            return FIRST;
        }

        @Override
        public int servers() {
            return present.length;
        }

        @Override
        public boolean reaches(int server) {
            return !lost.get(server);
        }

        private int post(int server, long compare, long value) {
            if (lost.get(server)) {
                return PostResult.LOST;
            }
            if (!hangs.get(server)) {
                boolean broken = breaks.get(server);
                breaks.clear(server);
                if (!broken) {
                    old[server] = present[server];
                    present[server] = present[server] == compare ? value : present[server];
                }
                ended.add(new long[] {server, broken ? Outcome.UNKNOWN : Outcome.DONE});
            }
            return PostResult.OK;
        }

        @Override
        public int add() {
            return post(FIRST, present[FIRST], present[FIRST] + 1);
        }

        @Override
        public int swap(int server, long compare, long value) {
            return post(server, compare, value);
        }

        @Override
        public void reconnect(int server) {
            ended.add(new long[] {CounterWords.RECONNECTS | server, Outcome.DONE});
        }

        @Override
        public long old(int server) {
            return old[server];
        }

        @Override
        public int poll(CompletionHandler handler) {
            long[] one = ended.poll();
            if (one == null) {
                return 0;
            }
            handler.completed(one[0], (int) one[1]);
            return 1;
        }

        @Override
        public void await(long nanos) {}
    }

    private boolean tells() {
        SessionCounter counter = new SessionCounter(words);
        long before = words.present[FIRST];
        assertEquals(before + 1, counter.add());
        return counter.tell(words.servers());
    }

    @Test
    void othersKnowTheNumber() {
        words.present[FIRST] = 6;
        words.present[2] = 6;
        words.present[3] = 9;
        assertTrue(tells());
        words.ended.clear();
        assertTrue(words.present[0] == 7 || words.present[2] == 7 || words.present[3] == 9);
        assertEquals(9, words.present[3], "it is never less");
    }

    @Test
    void aServerThatHangsDelaysNoSession() {
        words.hangs.set(0);
        words.hangs.set(3);
        assertTrue(tells());
        assertArrayEquals(new long[] {0, 1, 1, 0}, words.present);
    }

    /** The others could replace the first one, and give the number again. */
    @Test
    void aNumberThatNoOtherServerKnowsIsNotUsed() {
        words.lost.set(0);
        words.lost.set(2);
        words.lost.set(3);
        assertFalse(tells());
        words.lost.clear(2);
        assertTrue(tells());
        words.lost.set(FIRST);
        assertThrows(MapException.class, () -> new SessionCounter(words).add());
    }

    @Test
    void aConnectionThatFailsOnceIsMadeAgain() {
        words.lost.set(0);
        words.lost.set(3);
        words.breaks.set(FIRST);
        words.breaks.set(2);
        words.present[2] = 5;
        words.present[FIRST] = 7;
        assertTrue(tells());
        assertArrayEquals(new long[] {0, 8, 8, 0}, words.present);
    }
}
