package io.farheap.cache.batch;

import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * Chooses the path of larger records that would still fit into a batch. A batch copies a record twice more and
 * checksums it; a one-sided operation costs a work request. Which costs less depends on device and processor, so it is
 * measured with the application's own requests, as they are issued. If the session is the bottleneck, the time in which
 * a number of requests is issued shows the cost of one. If the application is the bottleneck, both paths take equally
 * long, and the one-sided path is better, since it uses no server thread.
 *
 * <p>Sizes between two powers of two form a class. Each class has a trial: windows of a number of records, which use
 * the two paths alternately. The least time of each path counts, since disturbances make a window only longer. After
 * the trial the class uses the better path for a number of windows, which doubles each time up to
 * {@value #LONGEST_HOLD}; then the next trial begins. One thread at a time; allocates nothing.
 */
public final class PathChoice {

    /** Records of up to this many bytes always take a batch. Tests set another value. */
    public static volatile int smallBytes = 128;

    /** The least number of records in a window, if tests do not set another. */
    private static final int WINDOW_RECORDS = 8192;

    public static volatile int windowRecords = WINDOW_RECORDS;

    /**
     * How many times the records that may be in flight a window has. A window ends as its last record is issued, so its
     * time does not include the records that are in flight then.
     */
    private static final int TIMES_IN_FLIGHT = 32;

    private static final int MOST_WINDOW_RECORDS = 1 << 22;

    /** The windows of each trial: batches, one-sided, batches, and so on. */
    private static final int TRIAL_WINDOWS = 6;

    private static final int FIRST_HOLD = 8;
    private static final int LONGEST_HOLD = 512;
    /** How many times as long the one-sided time must be for batches to be chosen. */
    private static final double TIE = 1.03;

    /** How long at most requests for the new path are refused while those on the other path end. */
    private static final long PATIENCE_NANOS = 1_000_000;

    private static final int CLASSES = Integer.SIZE;

    private final LongSupplier nanos;
    private final int small = smallBytes;
    private int records = windowRecords;

    private final boolean[] oneSided = new boolean[CLASSES];
    /** The number of the window in the present trial; from {@value #TRIAL_WINDOWS} on, in the time after it. */
    private final int[] window = new int[CLASSES];

    private final int[] hold = new int[CLASSES];
    /** Records issued in the present window. */
    private final int[] issued = new int[CLASSES];

    /** Whether the path has just changed, and until when records may be refused because of that. */
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

    /**
     * Makes windows long enough for a connection.
     *
     * @param most how many records may be in flight in batches to a server
     */
    void inFlight(int most) {
        if (records >= WINDOW_RECORDS) {
            records = Math.clamp((long) TIMES_IN_FLIGHT * most, records, MOST_WINDOW_RECORDS);
        }
    }

    /**
     * Whether records take the one-sided path. Called before records are issued, and again after they were refused.
     *
     * @param bytes length of a record, which fits into a batch
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
            // A window starts with its first record, not as the one before ends: the session may have been idle in
            // between.
            start[i] = nanos.getAsLong();
        }
        return oneSided[i];
    }

    /**
     * Whether a record has to be refused for now: after a change of paths, the requests on the other path end first. A
     * record behind requests on the other path that it may overlap has to take that path too, or to wait, so without
     * this the change might never be completed.
     *
     * @param busy whether requests of the session are in flight on the other path, and will end
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

    /** Counts records, which fit into a batch, as issued on the path that was chosen. */
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

    /** The class of a size: 129 to 256 bytes are one class, 257 to 512 the next. */
    private static int classOf(int bytes) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(bytes - 1);
    }
}
