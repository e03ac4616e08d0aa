package io.farheap.cache.batch;

import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * Which path the larger of those records take that would fit into a batch. A batch copies a record twice more and
 * checksums it, an operation of its own costs a work request: which is less depends on device and processor, so it is
 * measured, while the application's own requests are issued. Where the session is the bottleneck, the time in which so
 * many requests are issued tells what one costs; where the application is, both paths take equally long, and then the
 * one-sided path is the better one, since it uses no server thread.
 *
 * <p>Sizes between two powers of two are one class. A class has a trial, which are windows of so many records that take
 * the paths in turns, of which the least time of each path counts, since nothing but the path makes a window shorter;
 * then it keeps to the better path for a while, for longer each time, up to {@value #LONGEST_HOLD} windows. One thread
 * at a time; allocates nothing.
 */
public final class PathChoice {

    /** Up to this size a record takes a batch. Tests set another, and so with the next. */
    public static volatile int smallBytes = 128;

    /** At least, where tests do not set another, and so with the next. */
    private static final int WINDOW_RECORDS = 8192;

    public static volatile int windowRecords = WINDOW_RECORDS;

    /** A window ends with the last record that is issued: what is then under way is not in its time. */
    private static final int TIMES_IN_FLIGHT = 32;

    private static final int MOST_WINDOW_RECORDS = 1 << 22;

    /** Of each trial: batches, one-sided, batches, and so on. */
    private static final int TRIAL_WINDOWS = 6;

    private static final int FIRST_HOLD = 8;
    private static final int LONGEST_HOLD = 512;
    /** How much shorter a window of batches must be. */
    private static final double TIE = 1.03;

    /** For so long at most does one path wait until what took the other has ended. */
    private static final long PATIENCE_NANOS = 1_000_000;

    private static final int CLASSES = Integer.SIZE;

    private final LongSupplier nanos;
    private final int small = smallBytes;
    private int records = windowRecords;

    private final boolean[] oneSided = new boolean[CLASSES];
    /** Of the present trial; from {@value #TRIAL_WINDOWS} on, of the time after it. */
    private final int[] window = new int[CLASSES];

    private final int[] hold = new int[CLASSES];
    /** In the present window. */
    private final int[] issued = new int[CLASSES];

    /** Whether the path has just been changed, and until when records may be refused for it. */
    private final boolean[] changed = new boolean[CLASSES];

    private final long[] patience = new long[CLASSES];

    private final long[] start = new long[CLASSES];
    /** The least time for a record in a window of this trial. */
    private final double[] batched = new double[CLASSES];

    private final double[] direct = new double[CLASSES];

    PathChoice(LongSupplier nanos) {
        this.nanos = nanos;
        Arrays.fill(hold, FIRST_HOLD);
        for (int i = 0; i < CLASSES; i++) {
            beginTrial(i);
        }
    }

    /** @param most how many records may be in flight in batches to a server */
    void inFlight(int most) {
        if (records >= WINDOW_RECORDS) {
            records = Math.clamp((long) TIMES_IN_FLIGHT * most, records, MOST_WINDOW_RECORDS);
        }
    }

    /**
     * To be asked before records are issued, and again where they could not be.
     *
     * @param bytes of records that fit into a batch
     */
    boolean oneSided(int bytes) {
        if (bytes <= small) {
            return false;
        }
        int i = classOf(bytes);
        if (issued[i] > records) {
            end(i);
        }
        if (issued[i] == 0) {
            // Not the end of the window before: nothing may have been issued for an hour.
            start[i] = nanos.getAsLong();
        }
        return oneSided[i];
    }

    /**
     * Whether a record is to be refused for now: after a change of paths, what took the other one ends first. Behind
     * requests of the other path that it might overlap, a record has to take that path too, or to wait, so otherwise
     * the change might never come about.
     *
     * @param busy whether requests of the session are on their way by the other path, and will end
     */
    boolean refuses(int bytes, boolean busy) {
        if (bytes <= small) {
            return false;
        }
        int i = classOf(bytes);
        if (changed[i] && (!busy || nanos.getAsLong() - patience[i] > 0)) {
            changed[i] = false;
        }
        return changed[i];
    }

    /** So many records, which fit into a batch, have been issued by the path that was chosen. */
    void issued(int bytes, int count) {
        if (bytes > small) {
            issued[classOf(bytes)] += count;
        }
    }

    private void end(int i) {
        int ended = window[i]++;
        if (ended < TRIAL_WINDOWS) {
            double[] least = oneSided[i] ? direct : batched;
            least[i] = Math.min(least[i], (double) (nanos.getAsLong() - start[i]) / issued[i]);
            change(i, window[i] == TRIAL_WINDOWS ? direct[i] <= batched[i] * TIE : !oneSided[i]);
        } else if (window[i] == TRIAL_WINDOWS + hold[i]) {
            hold[i] = Math.min(2 * hold[i], LONGEST_HOLD);
            beginTrial(i);
        }
        issued[i] = 0;
    }

    private void beginTrial(int i) {
        window[i] = 0;
        change(i, false);
        batched[i] = Double.MAX_VALUE;
        direct[i] = Double.MAX_VALUE;
    }

    private void change(int i, boolean toOneSided) {
        if (oneSided[i] != toOneSided) {
            oneSided[i] = toOneSided;
            changed[i] = true;
            patience[i] = nanos.getAsLong() + PATIENCE_NANOS;
        }
    }

    /** 129 to 256 bytes are one, 257 to 512 the next. */
    private static int classOf(int bytes) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(bytes - 1);
    }
}
