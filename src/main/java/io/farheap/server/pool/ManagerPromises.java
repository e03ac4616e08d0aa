package io.farheap.server.pool;

import java.util.function.LongSupplier;

/**
 * How many free regions of a server with a manager are for caches that were promised them and have not taken them. The
 * server itself knows only grants that it was shown; the manager knows all, and says how many while the server reports
 * that it wants regions back. From then on it promises no more there, until a report wants nothing back. So nothing is
 * withdrawn before the manager has said so, but for a manager that does not answer for {@value #PATIENCE_MILLIS} ms.
 * Thread-safe.
 */
public final class ManagerPromises {

    /** For how long regions wait for the manager's answer before the grants alone count that were shown. */
    static final long PATIENCE_MILLIS = 10_000;

    /** The manager has not said how many. */
    private static final int UNKNOWN = -1;

    private final LongSupplier nanos;
    private int answered = UNKNOWN;
    /** Whether the last report that was made wants nothing back, or none was made. */
    private boolean calm = true;
    /** Whether regions wait for the manager's answer, and since when. */
    private boolean waits;

    private long since;

    /** @param nanos the clock */
    public ManagerPromises(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /**
     * The manager has answered a report. This does not count if the last report wants nothing back, though it may not
     * have been sent yet: the manager may promise regions after it.
     *
     * @param promised how many regions are promised and not taken
     */
    public synchronized void said(int promised) {
        answered = calm ? UNKNOWN : promised;
    }

    /**
     * A report is being made. If it wants nothing back, the manager may promise regions as soon as it has it.
     *
     * @param wanted how many regions it wants back
     */
    public synchronized void reports(int wanted) {
        calm = wanted == 0;
        if (calm) {
            answered = UNKNOWN;
            waits = false;
        }
    }

    /**
     * Returns how many free regions must not be withdrawn now.
     *
     * @param shown how many are promised by the grants that were shown
     */
    public synchronized int keep(int shown) {
        if (answered != UNKNOWN) {
            return answered;
        }
        long now = nanos.getAsLong();
        if (!waits) {
            waits = true;
            since = now;
        }
        return now - since < PATIENCE_MILLIS * 1_000_000 ? Integer.MAX_VALUE : shown;
    }
}
