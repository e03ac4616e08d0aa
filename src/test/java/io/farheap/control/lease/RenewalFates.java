package io.farheap.control.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.Lease;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** Renewals that end as servers, networks and defects end them: each lease has a {@link Kind}, and a record of them. */
final class RenewalFates implements LeaseRenewer, AutoCloseable {

    enum Kind {
        /** Each is answered, sooner or later. */
        ANSWERED(false),
        /** Some are answered, some cannot be sent, some time out: the lease may hold or not. */
        UNRELIABLE(false),
        /** The server reports that there is no such lease. */
        REFUSED(true),
        /** Renewals time out. */
        SILENT(true),
        /** Renewals fail at once. */
        UNREACHABLE(true),
        /** Renewals cannot be begun. */
        BROKEN(true),
        /** Renewals do not end. */
        ENDLESS(true);

        final boolean doomed;

        Kind(boolean doomed) {
            this.doomed = doomed;
        }
    }

    private final ScheduledExecutorService answers = Executors.newSingleThreadScheduledExecutor(
            task -> Thread.ofPlatform().daemon().name("test-answers").unstarted(task));
    private final Map<Long, Fate> leases = new ConcurrentHashMap<>();
    private final AtomicLong ids = new AtomicLong();

    /** @param after the number of good renewals before the kind takes effect */
    Fate add(Kind kind, int after, long durationNanos, Random random) {
        Lease lease = new Lease(ids.incrementAndGet(), durationNanos);
        Fate fate = new Fate(kind, after, lease, random.nextLong());
        leases.put(lease.id(), fate);
        return fate;
    }

    @Override
    public void begin(long leaseId, long withinNanos, Consumer<ControlException> ended) {
        leases.get(leaseId).begin(withinNanos, ended);
    }

    private void later(long nanos, Runnable answer) {
        answers.schedule(answer, nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void close() {
        answers.shutdownNow();
    }

    /** The renewals of one lease. */
    final class Fate {

        private final Kind kind;
        private final int after;
        private final Lease lease;
        private final Random random;

        private int begun;
        private int good;
        private boolean underWay;
        /** A {@code nanoTime} just before the last good renewal was sent, or the lease was opened. */
        private long goodSentAfter = System.nanoTime();

        private long endedAt = goodSentAfter;

        private ControlException last;
        private int losses;
        private ControlException cause;
        private String wrong;

        private Fate(Kind kind, int after, Lease lease, long seed) {
            this.kind = kind;
            this.after = after;
            this.lease = lease;
            random = new Random(seed);
        }

        Kind kind() {
            return kind;
        }

        Lease lease() {
            return lease;
        }

        /** The number of good renewals. */
        synchronized int renewals() {
            return good;
        }

        synchronized int losses() {
            return losses;
        }

        synchronized ControlException cause() {
            return cause;
        }

        private void begin(long within, Consumer<ControlException> ended) {
            Kind now;
            boolean promptly;
            long pause;
            synchronized (this) {
                note(!underWay, "a renewal is begun while one is under way");
                note(losses == 0, "a lost lease is renewed");
                note(within > 0 && within <= lease.durationNanos(), "a renewal may take " + within);
                underWay = true;
                begun++;
                now = good < after ? Kind.ANSWERED : kind;
                if (now == Kind.UNRELIABLE) {
                    Kind[] ways = {Kind.ANSWERED, Kind.SILENT, Kind.UNREACHABLE};
                    now = ways[random.nextInt(ways.length)];
                }
                promptly = random.nextBoolean();
                pause = random.nextLong(1 + within / 2);
            }
            switch (now) {
                case ANSWERED -> {
                    if (promptly) {
                        end(null, ended);
                    } else {
                        later(pause, () -> end(null, ended));
                    }
                }
                case REFUSED -> later(pause, () -> end(failure(Code.LEASE_EXPIRED), ended));
                case SILENT -> later(within, () -> end(failure(Code.DEADLINE_EXCEEDED), ended));
                case UNREACHABLE -> end(failure(Code.UNAVAILABLE), ended);
                case BROKEN -> throw new LinkageError("injected");
                default -> {}
            }
        }

        private static ControlException failure(Code code) {
            return new ControlException(code, "as the test wants");
        }

        private void end(ControlException failed, Consumer<ControlException> ended) {
            synchronized (this) {
                underWay = false;
                last = failed;
                if (failed == null) {
                    good++;
                    goodSentAfter = endedAt;
                }
                endedAt = System.nanoTime();
            }
            ended.accept(failed);
        }

        @SuppressWarnings("ReferenceEquality")
        synchronized void told(Lease told, ControlException why) {
            losses++;
            cause = why;
            note(told == lease, "told of another lease");
            note(kind != Kind.ANSWERED, "all renewals are answered, and the lease is lost");
            switch (why.code()) {
                case LEASE_EXPIRED -> note(why == last, "the server has not said so");
                case INTERNAL -> note(kind == Kind.BROKEN || kind == Kind.ENDLESS, "no error has struck it");
                default -> {
                    note(why == last, "the last failure is another");
                    long since = System.nanoTime() - goodSentAfter;
                    note(since >= lease.durationNanos(), "given up after " + since);
                }
            }
        }

        private void note(boolean right, String what) {
            if (!right && wrong == null) {
                wrong = what;
            }
        }

        /** Checks the renewals and losses against the contract. */
        synchronized void check() {
            assertNull(wrong, () -> wrong + ": " + this);
            if (kind.doomed) {
                assertEquals(1, losses, this::toString);
                assertNotNull(cause);
                assertTrue(begun > after, this::toString);
            } else {
                assertTrue(losses <= 1, this::toString);
            }
        }

        @Override
        public synchronized String toString() {
            return kind + " after " + after + ", " + lease + ": " + begun + " renewals, " + good + " good, " + losses
                    + " losses, " + cause;
        }
    }
}
