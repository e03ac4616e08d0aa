package io.farheap.kv.blocks;

import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.SizeClasses;
import io.farheap.time.TimeLimit;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntToLongFunction;

/**
 * Connects a session with its map's keeper, which makes the calls. It carries one request for blocks at a time, one
 * message to the map's controller at a time, and a ring of blocks that go back to the servers. One side belongs to the
 * session's thread, the other to the keeper's; neither waits for the other.
 *
 * <p>{@code blocks} is IDLE, ASKED or ANSWERED. The session writes the question's fields and then stores ASKED; the
 * keeper, which reads ASKED, writes the answer's fields and then stores ANSWERED; the session, which reads ANSWERED,
 * takes the answer and stores IDLE. So each volatile store publishes the plain fields written before it to the side
 * that reads it. {@code learning} does the same for the message in {@link #learned}. Of the ring, the session writes
 * entries and then {@code backEnd}, the keeper reads entries and then writes {@code backFirst}.
 */
public final class Mailbox {

    private static final int IDLE = 0;
    private static final int ASKED = 1;
    private static final int ANSWERED = 2;

    private static final int BACK = 4096;
    /** How long a session waits for blocks at most. */
    private static final long PATIENCE_NANOS = TimeLimit.of(TimeUnit.SECONDS.toNanos(2));
    /** For how long the keeper repeats a question, if the servers will have something soon. */
    private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(1500);
    /** The time between two such waits: if sizes change all the time, a session should not spend it all waiting. */
    private static final long BETWEEN_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
    /** If other classes are asked for more than so many times in succession, {@link #deepClass} is reset. */
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
    /**
     * Whether this is asked ahead: no request waits for the answer. The session sets it before it asks, and clears it
     * when a request begins to wait for the answer.
     */
    private volatile boolean ahead;
    /** Whether requests evict while this is asked ahead; then an answer of nothing counts for them too. */
    private boolean beside;
    /** The class of which more than one segment is asked for at once; -1: none. The session's, as {@link #segments}. */
    private int deepClass = -1;

    private int segments = 1;
    /** How often in succession other classes were asked for. */
    private int othersAsked;

    /** How many segments the present question asks for; the keeper reads it. */
    private int segmentsWanted;
    /** Whether the last answer was nothing. */
    private boolean nothing;
    /** Grows when servers may have blocks again. */
    private final AtomicLong hopes = new AtomicLong();
    /** The value of {@link #hopes} when the answer was nothing. */
    private long disappointed = -1;

    /** The keeper's: whether the present question has waited, and from when on the next one may. */
    private boolean waited;

    private long waitsFrom = System.nanoTime();

    private volatile int learning;
    private final long[] learned;
    private boolean learnedAnswered;

    /** Whether blocks were let go that the services must find. The session sets it, and the keeper clears it. */
    private volatile boolean lostSight;

    private final long[] back = new long[BACK];
    private volatile long backEnd;
    private volatile long backFirst;

    /** @param learnedWords length of a message to the controller */
    public Mailbox(KeeperWakeup keeper, RequestEpochs eras, int learnedWords) {
        this.eras = eras;
        this.keeper = keeper;
        learned = new long[learnedWords];
    }

    // The session's side.

    /** The process's era, with which requests are stamped. */
    public long era() {
        return eras.present();
    }

    /** Makes it worth asking again, since the session has evicted much. */
    public void hopeAnew() {
        disappointed = -1;
    }

    /** Whether asking for blocks is worth it: servers may have got some since the last answer of nothing. */
    public boolean hopeful() {
        return disappointed != hopes.get();
    }

    /**
     * Asks for blocks of a class, or of larger ones up to another class, unless a question is under way.
     *
     * @param want as {@link MapCalls#TAKE} has it; with {@link MapCalls#LAST} the keeper waits for what the servers
     *     will have soon, however recently it last waited
     * @return true if this question is asked, or an earlier one is answered or has waited too long; false if an earlier
     *     one has no answer yet
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

    /**
     * The blocks ran out before the answer that was asked for ahead came: from now on, asks for twice as many segments.
     */
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

    /** Asks ahead for blocks of a class, if that is worth it and no question is under way. */
    void askAhead(int wantedClass) {
        if (blocks == IDLE && hopeful()) {
            ahead = true;
            beside = false;
            post(wantedClass, wantedClass, MapCalls.FIRST);
        }
    }

    /**
     * As {@link #hopeful}, for a request that evicts anyway, such as a move in a full map: if the last answer was
     * nothing, asks ahead, and the request does not wait.
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

    /** The class whose blocks are used up faster than they come; -1: none. */
    int deepClass() {
        return deepClass;
    }

    /** Whether there is an answer to a question that was asked ahead. */
    public boolean hasAhead() {
        return ahead && blocks == ANSWERED;
    }

    /** Whether the session need not wait any more for what it asked for. */
    public boolean answered() {
        return blocks != ASKED || System.nanoTime() - askedAt > PATIENCE_NANOS;
    }

    /** Whether there is an answer of this kind. */
    public boolean given(long ofKind) {
        return blocks == ANSWERED && kind == ofKind;
    }

    /** The class that was asked for. */
    public int givenClass() {
        return sizeClass;
    }

    /** How many words the answer has. */
    public int givenCount() {
        return count;
    }

    /** A word of the answer. */
    long given(int index) {
        return words[index];
    }

    /** The session stops waiting for an answer. */
    void gaveUp() {
        disappointed = hopes.get();
    }

    /** The session has taken the answer. */
    void took() {
        nothing = kind == MapCalls.NOTHING || kind == MapCalls.STUCK;
        if (kind != MapCalls.SEGMENT && sizeClass == deepClass) {
            deepClass = -1;
        }
        // A request that needs a block asks more urgently than a question ahead, so an answer to the latter proves
        // nothing.
        if (nothing && (!ahead || beside)) {
            disappointed = hopes.get();
        }
        blocks = IDLE;
    }

    /** Whether there is an answer, also one that no request waits for any more. */
    public boolean hasBlocks() {
        return blocks == ANSWERED;
    }

    /** Puts a block into the ring. @return false if it is full */
    boolean giveBack(long block) {
        long end = backEnd;
        if (end - backFirst == BACK) {
            return false;
        }
        back[(int) end & BACK - 1] = block;
        backEnd = end + 1;
        return true;
    }

    /** Wakes the keeper for the blocks in the ring. */
    void gaveBack() {
        keeper.ring();
    }

    /** The session has let blocks go of which it does not know whether a slot names them: the services collect. */
    void losesSight() {
        lostSight = true;
        keeper.ring();
    }

    /** Whether a message to the controller may be written. */
    public boolean mayLearn() {
        return learning == IDLE;
    }

    /** The words of the message to the controller, and of its reply; this side's while no message is under way. */
    public long[] learned() {
        return learned;
    }

    /** Hands the message to the keeper. */
    public void sendLearned() {
        learning = ASKED;
        keeper.ring();
    }

    /** Whether the message has been answered or has failed; then call {@link #takeLearned}. */
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

    /** The class that is asked for; -1 if no question is under way. */
    public int asked() {
        return blocks == ASKED ? sizeClass : -1;
    }

    /** The largest class that will do. */
    public int largestAsked() {
        return largestClass;
    }

    /** How much is wanted, as {@link MapCalls#TAKE} has it. */
    public long wanted() {
        return wanted;
    }

    /** How many segments are wanted. */
    public int segmentsWanted() {
        return segmentsWanted;
    }

    /** Whether the keeper may let the present question wait until servers have something. */
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

    /** Makes it worth asking again, since servers may have blocks. */
    public void hope() {
        hopes.incrementAndGet();
    }

    /** Whether there is a message to the controller. */
    public boolean asksToLearn() {
        return learning == ASKED;
    }

    /** Ends the message. @param answered whether {@link #learned} has the reply */
    public void answerLearned(boolean answered) {
        learnedAnswered = answered;
        learning = ANSWERED;
    }

    /** Whether the session has let blocks go that the services must find, since this was asked last. */
    public boolean takeLostSight() {
        boolean was = lostSight;
        if (was) {
            lostSight = false;
        }
        return was;
    }

    /** The ring's entries that wait to go back, from this number to {@link #backEnd}. */
    public long backFirst() {
        return backFirst;
    }

    /** The number after the ring's last entry. */
    public long backEnd() {
        return backEnd;
    }

    /** An entry of the ring, by its number. */
    public long back(long index) {
        return back[(int) index & BACK - 1];
    }

    /** The keeper has taken the entries before this number. */
    public void wentBack(long end) {
        backFirst = end;
    }

    /** Adds the blocks of an answer that the session has not taken yet. */
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
