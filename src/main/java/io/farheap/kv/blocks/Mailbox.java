package io.farheap.kv.blocks;

import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.SizeClasses;
import io.farheap.time.TimeLimit;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntToLongFunction;

/**
 * Between a session and its map's keeper, which makes the calls: one request for blocks at a time, one batch of what
 * was learned, and blocks that go back. The session's thread has one side of it, the keeper's the other, and neither
 * ever waits for the other.
 */
public final class Mailbox {

    private static final int IDLE = 0;
    private static final int ASKED = 1;
    private static final int ANSWERED = 2;

    private static final int BACK = 4096;
    /** What a session waits for blocks at most. */
    private static final long PATIENCE_NANOS = TimeLimit.of(TimeUnit.SECONDS.toNanos(2));
    /** For how long the keeper tries, where there is to be something soon. */
    private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(1500);
    /** Between such waits: where sizes change all the time, they are not to be all that a session does. */
    private static final long BETWEEN_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
    /** Where others are asked for so often in succession, the class is not what is used up fastest any more. */
    private static final int OTHERS = 4;

    private final KeeperWakeup keeper;
    private final RequestEpochs eras;

    private volatile int blocks;
    private int sizeClass;
    private int largestClass;
    private long wanted;
    private long kind;
    private int count;
    private final long[] words = new long[MapCalls.MOST_TAKEN];
    private long askedAt;
    /** What is asked for is for later: no request waits for it. The session's, which writes it before it asks. */
    private volatile boolean ahead;
    /** The same of requests that evict meanwhile: nothing is nothing to them, too. */
    private boolean beside;
    /** Of the class that more than one segment is asked for at once. The session's, as {@link #segments}. */
    private int deepClass = -1;

    private int segments = 1;
    /** How often in succession others were asked for. */
    private int othersAsked;

    /** So many of what is asked for now; the keeper reads it. */
    private int segmentsWanted;
    /** Whether there was nothing the last time. */
    private boolean nothing;
    /** Counts up when servers may have something again. */
    private final AtomicLong hopes = new AtomicLong();
    /** The hopes that there were when there was nothing. */
    private long disappointed = -1;

    /** The keeper's: whether what is asked for has waited, and from when on the next may. */
    private boolean waited;

    private long waitsFrom = System.nanoTime();

    private volatile int learning;
    private final long[] learned;
    private boolean learnedAnswered;

    private final long[] back = new long[BACK];
    private volatile long backEnd;
    private volatile long backFirst;

    /** @param learnedWords of a message to the controller */
    public Mailbox(KeeperWakeup keeper, RequestEpochs eras, int learnedWords) {
        this.eras = eras;
        this.keeper = keeper;
        learned = new long[learnedWords];
    }

    // The session's side.

    /** The process's era, which requests are stamped with. */
    public long era() {
        return eras.now();
    }

    /** There may be something after all, as the session has given much back. */
    public void hopeAnew() {
        disappointed = -1;
    }

    /** Whether it is worth asking for blocks. */
    public boolean hopeful() {
        return disappointed != hopes.get();
    }

    /**
     * Asks for blocks of a class, or of larger ones up to another, unless it is asking.
     *
     * @param want as {@link MapCalls#TAKE} has it; {@link MapCalls#LAST} waits for what there is to be soon, however
     *     long ago it last did
     * @return whether that is asked now, or nothing will be answered
     */
    public boolean ask(int wantedClass, int largest, long want) {
        if (ahead && !beside && blocks == ASKED && sizeClass == wantedClass) {
            deepen();
        }
        ahead = false;
        beside = false;
        if (blocks == IDLE) {
            post(wantedClass, largest, want);
            return true;
        }
        return answered();
    }

    /** What was there has been used before what was asked for ahead has come: from now on twice as much is. */
    private void deepen() {
        segments = sizeClass == deepClass ? Math.min(2 * segments, MapCalls.MOST_SEGMENTS) : 2;
        deepClass = sizeClass;
        othersAsked = 0;
    }

    private void post(int wantedClass, int largest, long want) {
        sizeClass = wantedClass;
        largestClass = largest;
        wanted = want;
        othersAsked = wantedClass == deepClass ? 0 : othersAsked + 1;
        if (othersAsked > OTHERS) {
            deepClass = -1;
        }
        segmentsWanted = wantedClass == deepClass ? segments : 1;
        askedAt = System.nanoTime();
        blocks = ASKED;
        keeper.ring();
    }

    /** Asks for blocks of a class that no request waits for yet, where it is worth it and nothing else is asked for. */
    void askAhead(int wantedClass) {
        if (blocks == IDLE && hopeful()) {
            ahead = true;
            beside = false;
            post(wantedClass, wantedClass, MapCalls.FIRST);
        }
    }

    /**
     * As {@link #hopeful}, of a request that evicts anyway, such as a move in a map that is full: where there was
     * nothing the last time, it is asked ahead, and the request does not wait.
     */
    public boolean hopefulUnlessFull(int wantedClass) {
        if (!nothing) {
            return hopeful();
        }
        if (blocks == IDLE && hopeful()) {
            ahead = true;
            beside = true;
            post(wantedClass, SizeClasses.near(wantedClass), MapCalls.FIRST);
        }
        return false;
    }

    /** The class that is used up faster than it comes; -1 none. */
    int deepClass() {
        return deepClass;
    }

    /** Whether there is an answer that no request waits for. */
    public boolean hasAhead() {
        return ahead && blocks == ANSWERED;
    }

    /** Whether the session need not wait any more for what it asked for. */
    public boolean answered() {
        return blocks != ASKED || System.nanoTime() - askedAt > PATIENCE_NANOS;
    }

    /** Whether there is an answer of a kind. */
    public boolean given(long ofKind) {
        return blocks == ANSWERED && kind == ofKind;
    }

    public int givenClass() {
        return sizeClass;
    }

    public int givenCount() {
        return count;
    }

    /** A word of the answer. */
    long given(int index) {
        return words[index];
    }

    /** There was no answer in time. */
    void gaveUp() {
        disappointed = hopes.get();
    }

    /** The answer has been taken. */
    void took() {
        nothing = kind == MapCalls.NOTHING || kind == MapCalls.STUCK;
        if (kind != MapCalls.SEGMENT && sizeClass == deepClass) {
            deepClass = -1;
        }
        // Who needs one asks more urgently than who asks ahead.
        if (nothing && (!ahead || beside)) {
            disappointed = hopes.get();
        }
        blocks = IDLE;
    }

    /** Whether there is an answer, also one that nobody waits for any more. */
    public boolean hasBlocks() {
        return blocks == ANSWERED;
    }

    /** @return whether there was room */
    boolean giveBack(long block) {
        long end = backEnd;
        if (end - backFirst == BACK) {
            return false;
        }
        back[(int) end & BACK - 1] = block;
        backEnd = end + 1;
        return true;
    }

    /** Wakes the keeper. */
    void gaveBack() {
        keeper.ring();
    }

    /** Whether a message to the controller may be written. */
    public boolean mayLearn() {
        return learning == IDLE;
    }

    public long[] learned() {
        return learned;
    }

    public void sendLearned() {
        learning = ASKED;
        keeper.ring();
    }

    /** Whether the message has ended; then {@link #takeLearned}. */
    public boolean hasLearned() {
        return learning == ANSWERED;
    }

    /** @return whether the controller has answered */
    public boolean takeLearned() {
        boolean did = learnedAnswered;
        learning = IDLE;
        return did;
    }

    // The keeper's side.

    /** The class that is asked for; -1 where none is. */
    public int asked() {
        return blocks == ASKED ? sizeClass : -1;
    }

    public int largestAsked() {
        return largestClass;
    }

    public long wanted() {
        return wanted;
    }

    public int segmentsWanted() {
        return segmentsWanted;
    }

    /** Whether what is asked for can wait. */
    public boolean mayWait() {
        if (ahead || (wanted != MapCalls.LAST && askedAt - waitsFrom < 0)) {
            return false;
        }
        if (System.nanoTime() - askedAt < SOON_NANOS) {
            waited = true;
            return true;
        }
        return false;
    }

    private void endWait() {
        if (waited) {
            waited = false;
            waitsFrom = System.nanoTime() + BETWEEN_NANOS;
        }
    }

    /** @param ofKind {@link MapCalls#NOTHING} or {@link MapCalls#STUCK} */
    public void answerNothing(long ofKind) {
        endWait();
        kind = ofKind;
        blocks = ANSWERED;
    }

    /**
     * Hands over what a {@link MapCalls#TAKE} gave.
     *
     * @param reply the words of its answer, by number
     */
    public void answer(IntToLongFunction reply) {
        endWait();
        kind = reply.applyAsLong(1);
        count = (int) reply.applyAsLong(2);
        for (int i = 0; i < count; i++) {
            words[i] = reply.applyAsLong(3 + i);
        }
        blocks = ANSWERED;
    }

    public void hope() {
        hopes.incrementAndGet();
    }

    public boolean asksToLearn() {
        return learning == ASKED;
    }

    public void answerLearned(boolean answered) {
        learnedAnswered = answered;
        learning = ANSWERED;
    }

    /** Blocks that wait to go back, first to last. */
    public long backFirst() {
        return backFirst;
    }

    public long backEnd() {
        return backEnd;
    }

    public long back(long index) {
        return back[(int) index & BACK - 1];
    }

    /** Those before are not this mailbox's any more. */
    public void wentBack(long end) {
        backFirst = end;
    }

    /** What was answered and not been taken. */
    public void held(HeldBlocks into) {
        if (blocks != ANSWERED) {
            return;
        }
        if (kind == MapCalls.SEGMENT) {
            for (int i = 0; i < count; i += 2) {
                into.addSegment(sizeClass, words[i], (int) words[i + 1]);
            }
        } else if (kind == MapCalls.BLOCKS) {
            for (int i = 0; i < count; i++) {
                into.add(words[i]);
            }
        }
    }
}
