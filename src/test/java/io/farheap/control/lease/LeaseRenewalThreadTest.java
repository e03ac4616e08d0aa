package io.farheap.control.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.Lease;
import io.farheap.control.plane.LeaseListener;
import io.farheap.testing.Effort;
import io.farheap.testing.FailingLog;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** One thread renews many leases: the loss of one does not affect the others. */
class LeaseRenewalThreadTest {

    private static final long MILLI = 1_000_000L;
    /** Each condition that a test awaits holds after far less time. */
    private static final int PATIENCE_MILLIS = 120_000;

    private static final Logger LOG = Logger.getLogger(LeaseKeeper.class.getName());

    /** Threads that other tests may have left. */
    private final Set<Thread> others = Thread.getAllStackTraces().keySet();

    private final RenewalFates fates = new RenewalFates();
    private final LeaseRenewalThread thread = new LeaseRenewalThread();
    private final List<LeaseKeeper> keepers = new ArrayList<>();
    private final CountDownLatch mayGoOn = new CountDownLatch(1);

    @BeforeEach
    void hush() {
        LOG.setLevel(Level.OFF);
    }

    @AfterEach
    void close() throws InterruptedException {
        mayGoOn.countDown();
        keepers.forEach(LeaseKeeper::close);
        thread.close();
        fates.close();
        await(() -> names("farheap-lease-keeper") == 0 && names("farheap-lease-listener") == 0);
        LOG.setLevel(null);
    }

    private long names(String name) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(each -> each.getName().equals(name) && !others.contains(each))
                .count();
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        await(condition, "this");
    }

    private static void await(BooleanSupplier condition, Object what) throws InterruptedException {
        for (int i = 0; !condition.getAsBoolean(); i++) {
            assertTrue(i < PATIENCE_MILLIS / 10, () -> "does not come about: " + what);
            Thread.sleep(10);
        }
    }

    private LeaseKeeper keep(RenewalFates.Fate fate, LeaseListener listener) {
        LeaseKeeper keeper = new LeaseKeeper(thread, fates, fate.lease(), listener);
        keepers.add(keeper);
        return keeper;
    }

    private RenewalFates.Fate keep(RenewalFates.Kind kind, int after, long millis, Random random) {
        RenewalFates.Fate fate = fates.add(kind, after, millis * MILLI, random);
        keep(fate, fate::told);
        return fate;
    }

    static IntStream seeds() {
        return IntStream.rangeClosed(1, Effort.seeds(2));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void randomHistories(int seed) throws Exception {
        Random random = new Random(seed);
        List<RenewalFates.Fate> all = new ArrayList<>();
        RenewalFates.Kind[] kinds = RenewalFates.Kind.values();
        for (int i = 0; i < 70; i++) {
            all.add(keep(kinds[i % kinds.length], random.nextInt(4), 100 + random.nextInt(400), random));
        }
        for (RenewalFates.Fate fate : all) {
            if (fate.kind().doomed) {
                await(() -> fate.losses() > 0, fate);
            }
        }
        assertEquals(1, names("farheap-lease-keeper"));
        // Leases that a server answers are still renewed, however many others are lost.
        for (RenewalFates.Fate fate : all) {
            if (fate.kind() == RenewalFates.Kind.ANSWERED) {
                int renewals = fate.renewals();
                await(() -> fate.renewals() >= renewals + 3 || fate.losses() > 0, fate);
            }
        }
        keepers.forEach(LeaseKeeper::close);
        all.forEach(RenewalFates.Fate::check);
    }

    @Test
    void aListenerThatTakesLongOrThrowsCostsNoOtherItsLease() throws Exception {
        Random random = new Random(1);
        AtomicInteger stuck = new AtomicInteger();
        for (int i = 0; i < 5; i++) {
            keep(fates.add(RenewalFates.Kind.REFUSED, 0, 200 * MILLI, random), (lease, cause) -> {
                stuck.incrementAndGet();
                hold();
            });
            keep(fates.add(RenewalFates.Kind.REFUSED, 0, 200 * MILLI, random), (lease, cause) -> {
                throw new LinkageError("injected");
            });
        }
        RenewalFates.Fate slow = fates.add(RenewalFates.Kind.ANSWERED, 0, 200 * MILLI, random);
        LeaseKeeper slowly = keep(slow, new LeaseListener() {
            @Override
            public void leaseLost(Lease lease, ControlException cause) {
                slow.told(lease, cause);
            }

            @Override
            public void renewed(Lease lease) {
                stuck.incrementAndGet();
                hold();
            }
        });
        slowly.tellNextRenewal();
        await(() -> stuck.get() == 6);

        RenewalFates.Fate well = keep(RenewalFates.Kind.ANSWERED, 0, 200, random);
        RenewalFates.Fate later = keep(RenewalFates.Kind.REFUSED, 1, 200, random);
        await(() -> later.losses() == 1);
        int before = slow.renewals();
        await(() -> well.renewals() >= 5 && slow.renewals() >= before + 5);
        assertEquals(0, well.losses() + slow.losses());
    }

    private void hold() {
        try {
            mayGoOn.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aListenerIsToldOfTheNextRenewalWhereItIsAskedForAndOnce() throws Exception {
        AtomicInteger told = new AtomicInteger();
        RenewalFates.Fate fate = fates.add(RenewalFates.Kind.ANSWERED, 0, 60 * MILLI, new Random(1));
        LeaseKeeper keeper = keep(fate, new LeaseListener() {
            @Override
            public void leaseLost(Lease lease, ControlException cause) {
                fate.told(lease, cause);
            }

            @Override
            public void renewed(Lease lease) {
                told.incrementAndGet();
            }
        });
        await(() -> fate.renewals() >= 3);
        assertEquals(0, told.get());
        for (int times = 1; times <= 3; times++) {
            int expected = times;
            keeper.tellNextRenewal();
            await(() -> told.get() == expected);
            int renewals = fate.renewals();
            await(() -> fate.renewals() >= renewals + 2);
            assertEquals(expected, told.get());
        }
    }

    /** Losses race with closing. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void onceClosedNobodyIsTold(int seed) throws Exception {
        Random random = new Random(seed);
        AtomicInteger told = new AtomicInteger();
        AtomicInteger late = new AtomicInteger();
        for (int i = 0; i < 300; i++) {
            boolean[] closed = new boolean[1];
            Object lock = new Object();
            LeaseKeeper keeper = keep(fates.add(RenewalFates.Kind.REFUSED, 0, 3 * MILLI, random), (lease, cause) -> {
                told.incrementAndGet();
                synchronized (lock) {
                    late.addAndGet(closed[0] ? 1 : 0);
                }
            });
            TimeUnit.NANOSECONDS.sleep(random.nextLong(3 * MILLI));
            keeper.close();
            synchronized (lock) {
                closed[0] = true;
            }
        }
        assertEquals(0, late.get());
        assertTrue(told.get() > 0, "all were closed before they were lost");
    }

    /** If memory is short, the JVM may throw one error object everywhere: here the log throws that of the renewals. */
    @Test
    void oneErrorFromEverywhereLosesEachLeaseAndItGoesOn() throws Exception {
        OutOfMemoryError error = new OutOfMemoryError("injected");
        AtomicInteger losses = new AtomicInteger();
        try (FailingLog log = new FailingLog(LeaseKeeper.class, "the lease is not kept", error)) {
            for (int i = 1; i <= 2; i++) {
                LeaseRenewer broken = (_, _, _) -> {
                    throw error;
                };
                keepers.add(
                        new LeaseKeeper(thread, broken, new Lease(i, 200 * MILLI), (_, _) -> losses.incrementAndGet()));
            }
            await(() -> losses.get() == 2);
            assertTrue(log.failures() > 0);
        }
        RenewalFates.Fate next = keep(RenewalFates.Kind.ANSWERED, 0, 100, new Random(1));
        await(() -> next.renewals() >= 3);
        assertEquals(0, next.losses());
    }

    /** An error in the thread's own work loses its leases and calls their listeners; later leases are renewed. */
    @Test
    void anErrorOfTheThreadLosesWhatItHasAndItGoesOn() throws Exception {
        Random random = new Random(1);
        RenewalFates.Fate first = keep(RenewalFates.Kind.ANSWERED, 0, 60_000, random);
        RenewalFates.Fate second = fates.add(RenewalFates.Kind.ANSWERED, 0, 60_000 * MILLI, random);
        keep(second, second::told);
        // The thread fails on a null keeper.
        thread.remove(null);
        await(() -> first.losses() == 1 && second.losses() == 1);
        assertEquals(Code.INTERNAL, first.cause().code());

        RenewalFates.Fate next = keep(RenewalFates.Kind.ANSWERED, 0, 100, random);
        await(() -> next.renewals() >= 3);
        assertFalse(next.losses() > 0);
    }
}
