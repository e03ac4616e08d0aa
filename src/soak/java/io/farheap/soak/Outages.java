package io.farheap.soak;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.StringJoiner;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Stops and kills servers and client processes, one at a time: some for less than a lease, again and again, and one for
 * longer or for good. One thread, but where it says otherwise.
 */
final class Outages implements AutoCloseable {

    /** What happens once. */
    private enum SevereOutage {
        NONE(""),
        KILL_SERVER("kill -9 of a server"),
        STOP_SERVER("a server stopped for longer than its lease"),
        KILL_CLIENT("kill -9 of a client"),
        STOP_CLIENT("a client stopped for longer than its lease"),
        STOP_AND_KILL_CLIENT("a client stopped for longer than its lease, and killed then");

        private static final List<SevereOutage> DRAWN = List.of(
                KILL_SERVER,
                KILL_SERVER,
                STOP_SERVER,
                STOP_SERVER,
                KILL_CLIENT,
                STOP_CLIENT,
                STOP_CLIENT,
                STOP_AND_KILL_CLIENT,
                NONE,
                NONE,
                NONE,
                NONE);

        final String words;

        SevereOutage(String words) {
            this.words = words;
        }
    }

    private static final long MOST_GAP_NANOS = 1_500_000_000L;
    /**
     * A lease is renewed every third of it, so that it outlives a stop of a quarter, even where the next renewal fails.
     */
    private static final int SHORT_PART_OF_LEASE = 4;

    private static final long MOST_SHORT_NANOS = 2_000_000_000L;
    private static final long MOST_AFTER_CLAIM_NANOS = 2_000_000_000L;

    // The plan, which only the seed decides.
    private final SevereOutage grave;
    private final int graveVictim;
    private final long graveStopNanos;
    private final long afterClaimNanos;
    private final boolean shortStops;
    private final SplittableRandom random;

    private final long mostShortNanos;
    private final Consumer<String> log;
    private final Set<String> gone = ConcurrentHashMap.newKeySet();
    private final Set<String> dead = ConcurrentHashMap.newKeySet();
    private final Set<String> disturbed = ConcurrentHashMap.newKeySet();
    private boolean graveBegun;
    /** Null where nothing is stopped. */
    private @Nullable Runnable resume;

    private long resumeAt;
    /** Null where nobody has a client's regions. */
    private @Nullable RegionClaim claim;

    private @Nullable Thread claiming;
    private long claimEndsAt;
    private long nextShortAt = System.nanoTime();
    private long shortOnes;
    private long longestHeldNanos;

    /** @param log is told of what happens once, when it does */
    Outages(SplittableRandom random, long leaseNanos, Consumer<String> log) {
        this.random = random;
        this.grave = SevereOutage.DRAWN.get(random.nextInt(SevereOutage.DRAWN.size()));
        this.graveVictim = random.nextInt(Integer.MAX_VALUE);
        this.graveStopNanos = (long) (leaseNanos * (1.2 + 0.8 * random.nextDouble()));
        this.afterClaimNanos = random.nextLong(MOST_AFTER_CLAIM_NANOS);
        this.shortStops = random.nextBoolean();
        this.log = log;
        this.mostShortNanos = Math.min(MOST_SHORT_NANOS, leaseNanos / SHORT_PART_OF_LEASE);
    }

    /** In words. */
    @Override
    public String toString() {
        StringJoiner words = new StringJoiner(", ");
        if (shortStops) {
            words.add("short stops");
        }
        if (grave != SevereOutage.NONE) {
            words.add(grave.words);
        }
        return words.toString();
    }

    /** Whether servers stop for less than a lease. */
    boolean anyShort() {
        return shortStops;
    }

    /** Whether a server is killed, or stopped for longer than a lease. */
    boolean serverGoes() {
        return grave == SevereOutage.KILL_SERVER || grave == SevereOutage.STOP_SERVER;
    }

    boolean any() {
        return shortStops || grave != SevereOutage.NONE;
    }

    /**
     * Servers that were killed, or stopped for longer than a lease. Any thread; a server is here before it happens to
     * it.
     */
    Set<String> gone() {
        return gone;
    }

    /** Servers that were killed. Any thread. */
    Set<String> dead() {
        return dead;
    }

    /** Whether anything was done to a server. Any thread. */
    boolean disturbed(String server) {
        return disturbed.contains(server);
    }

    /** Whether it has done what it is to do once, and nothing is stopped. */
    boolean over() {
        return (graveBegun || grave == SevereOutage.NONE) && resume == null && claim == null;
    }

    long shortOnes() {
        return shortOnes;
    }

    /** How long a stopped or dead client had its regions. */
    long longestHeldNanos() {
        return longestHeldNanos;
    }

    /**
     * Does what is due.
     *
     * @param late whether what happens once is due
     * @param ending whether nothing else is to begin
     * @param neighbours of whom there must be one
     */
    void tick(
            boolean late,
            boolean ending,
            List<SoakServer> servers,
            List<TenantProcess> neighbours,
            Episode.Claimer claimer)
            throws InterruptedException {
        long now = System.nanoTime();
        if (resume != null) {
            goOn(resume, now);
        } else if (claim != null) {
            watchClaim(claim, now);
        } else if (late && !graveBegun && grave != SevereOutage.NONE) {
            graveBegun = true;
            begin(servers.get(graveVictim % servers.size()), neighbours.get(graveVictim % neighbours.size()), claimer);
        } else if (shortStops && !ending && now - nextShortAt > 0) {
            stopShortly(servers, neighbours);
        }
    }

    private void goOn(Runnable stopped, long now) {
        if (claim != null && !claim.isDue()) {
            resumeAt = now + afterClaimNanos;
        } else if (now - resumeAt > 0) {
            stopped.run();
            resume = null;
            claimEndsAt = now + afterClaimNanos;
        }
    }

    private void watchClaim(RegionClaim held, long now) throws InterruptedException {
        if (!held.isTaken()) {
            claimEndsAt = now + afterClaimNanos;
        } else if (now - claimEndsAt > 0) {
            held.stop();
            Objects.requireNonNull(claiming).join();
            longestHeldNanos = held.nanos();
            claim = null;
        }
    }

    private void begin(SoakServer server, TenantProcess neighbour, Episode.Claimer claimer) {
        act(server, neighbour, claimer);
        log.accept("    now: " + grave.words);
    }

    private void act(SoakServer server, TenantProcess neighbour, Episode.Claimer claimer) {
        switch (grave) {
            case KILL_SERVER -> {
                // First: who learns of it must find it there.
                sicken(server.address());
                dead.add(server.address());
                server.kill();
            }
            case STOP_SERVER -> {
                sicken(server.address());
                server.suspend();
                resumeAfter(graveStopNanos, server::resume);
            }
            case KILL_CLIENT -> {
                neighbour.kill();
                claim(claimer, neighbour);
                resumeAfter(0, () -> {});
            }
            case STOP_CLIENT -> {
                neighbour.suspend(true);
                claim(claimer, neighbour);
                resumeAfter(0, neighbour::resume);
            }
            case STOP_AND_KILL_CLIENT -> {
                neighbour.suspend(true);
                claim(claimer, neighbour);
                resumeAfter(0, neighbour::kill);
            }
            case NONE -> {}
        }
    }

    private void sicken(String server) {
        disturbed.add(server);
        gone.add(server);
    }

    private void stopShortly(List<SoakServer> servers, List<TenantProcess> neighbours) {
        shortOnes++;
        nextShortAt = System.nanoTime() + random.nextLong(MOST_GAP_NANOS);
        int victim = random.nextInt(servers.size() + neighbours.size());
        long nanos = random.nextLong(mostShortNanos);
        if (victim < servers.size()) {
            SoakServer server = servers.get(victim);
            if (!dead.contains(server.address())) {
                disturbed.add(server.address());
                server.suspend();
                resumeAfter(nanos, server::resume);
            }
        } else {
            TenantProcess neighbour = neighbours.get(victim - servers.size());
            if (!neighbour.killed()) {
                neighbour.suspend(false);
                resumeAfter(nanos, neighbour::resume);
            }
        }
    }

    private void resumeAfter(long nanos, Runnable action) {
        resume = action;
        resumeAt = System.nanoTime() + nanos;
    }

    private void claim(Episode.Claimer claimer, TenantProcess from) {
        claim = claimer.claim(from);
        claiming = Thread.ofPlatform().daemon().name("claim").start(claim);
    }

    /** Lets go on what is stopped. */
    @Override
    public void close() {
        if (resume != null) {
            resume.run();
            resume = null;
        }
        if (claim != null) {
            claim.stop();
        }
    }
}
