package io.farheap.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.RegionGrant;
import io.farheap.control.SpaceKey;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.SpaceGrant;
import io.farheap.control.plane.SpacePlane;
import io.farheap.server.contract.ServerOptions;
import io.farheap.server.contract.SpaceListener;
import io.farheap.server.contract.SpacePin;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/**
 * Leases open, grow, close and drop spaces and end, all at the same time: every region comes back once, zeroed, all
 * that was lent comes back, and services are notified of each end.
 */
class SpacesRaceTest {

    private static final long REGION = 64 << 10;
    private static final int REGIONS = 16;
    private static final int THREADS = 4;
    private static final int STEPS = Effort.count(2_000);
    private static final long PATIENCE_NANOS = TestDevice.patience(60_000_000_000L);
    private static final byte[] DESCRIPTOR = {};
    /** The failures that a call may have if another call is faster. */
    private static final Set<Code> FAIR =
            EnumSet.of(Code.NOT_FOUND, Code.OUT_OF_MEMORY, Code.BUSY, Code.INVALID_ARGUMENT);

    private final ServerPlane server = ServerPlane.open(
            new ServerOptions(REGION * REGIONS, REGION, 300_000_000_000L, TestDevice.server(), "races"));
    private final SpacePlane spaces = server.spaces();
    private final AtomicLong numbers = new AtomicLong();
    private final Set<Long> created = ConcurrentHashMap.newKeySet();
    private final Set<Long> toldEnded = ConcurrentHashMap.newKeySet();
    private final Set<String> wrong = ConcurrentHashMap.newKeySet();

    private static SpaceKey key(int number) {
        return SpaceKey.of("space-" + number, "0123456789");
    }

    private Void play(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        long lease = server.openLease("player").id();
        List<SpaceGrant> open = new ArrayList<>();
        for (int step = 0; step < STEPS; step++) {
            SpaceKey key = key(random.nextInt(3));
            try {
                switch (random.nextInt(12)) {
                    case 0, 1 -> {
                        long millis = random.nextBoolean() ? SpacePlane.FOR_EVER : 1 + random.nextInt(300);
                        SpaceGrant space = spaces.create(
                                lease, key, 1 + random.nextInt(4), millis, DESCRIPTOR, numbers.incrementAndGet());
                        created.add(space.spaceId());
                        open.add(space);
                    }
                    case 2, 3, 4 -> open.add(spaces.open(lease, key));
                    case 5 -> spaces.grow(lease, key, 1 + random.nextInt(3), numbers.incrementAndGet());
                    case 6 -> spaces.drop(lease, key, SpacePlane.ANY_SPACE);
                    case 7, 8 -> {
                        if (!open.isEmpty()) {
                            spaces.close(lease, open.removeLast().openingId());
                        }
                    }
                    case 9 -> use(open);
                    case 10 -> spaces.extend(lease, key, 500);
                    default -> {
                        server.closeLease(lease);
                        lease = server.openLease("player").id();
                        open.clear();
                    }
                }
            } catch (ControlException e) {
                if (!FAIR.contains(e.code())) {
                    throw e;
                }
            }
        }
        server.closeLease(lease);
        return null;
    }

    /** Uses a space as a service does: no other client gets the space's memory meanwhile. */
    private void use(List<SpaceGrant> open) {
        if (open.isEmpty()) {
            return;
        }
        try (SpacePin use = server.servedSpaces().use(open.getLast().spaceId())) {
            if (use != null) {
                MemorySegment region = use.space().region(0);
                region.set(ValueLayout.JAVA_LONG, 0, use.space().id());
                if (region.get(ValueLayout.JAVA_LONG, 0) != use.space().id()) {
                    wrong.add("a region of two spaces");
                }
            }
        }
    }

    private void await(String what, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, what + " has not come about");
            Thread.sleep(1);
        }
    }

    @Test
    void everythingComesBackOnce() throws Exception {
        server.servedSpaces().listen(new SpaceListener() {
            @Override
            public void spaceEnded(long spaceId) {
                if (!toldEnded.add(spaceId)) {
                    wrong.add("told twice of space " + spaceId);
                }
            }
        });
        long seed = System.nanoTime();
        System.out.println("races of seed " + seed);
        try (server;
                ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            List<Future<Void>> players = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                long own = seed + i;
                players.add(threads.submit(() -> play(own)));
            }
            for (Future<Void> player : players) {
                player.get();
            }
            long last = server.openLease("last").id();
            for (int i = 0; i < 3; i++) {
                try {
                    spaces.drop(last, key(i), SpacePlane.ANY_SPACE);
                } catch (ControlException e) {
                    assertEquals(Code.NOT_FOUND, e.code());
                }
            }
            await(
                    "all regions",
                    () -> server.hello(ControlPlane.PROTOCOL_VERSION).freeRegions() == REGIONS);
            await("the end of all spaces", () -> server.budgets().spaces().lent() == 0);
            assertEquals(0, server.budgets().registrations().lent());
            assertEquals(List.of(), spaces.list(last));
            // More spaces may have ended: those that were dropped before their creators received the answer.
            created.removeAll(toldEnded);
            assertEquals(Set.of(), created);
            assertEquals(Set.of(), wrong);
            server.closeLease(last);
            await("the end of what was busy", server.retired()::isEmpty);

            try (TestClient client = new TestClient(server)) {
                List<RegionGrant> all = server.allocate(client.lease.id(), REGIONS);
                Set<Integer> ids = new HashSet<>();
                all.forEach(region -> ids.add(region.regionId()));
                assertEquals(REGIONS, ids.size());
                all.forEach(client::assertZero);
            }
        }
    }
}
