package io.farheap.resilience.keeper;

import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.table.SpaceState;
import io.farheap.thread.Uninterruptibles;
import io.farheap.time.TimeLimit;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Takes a server out of a space while the space is used: the keeper regenerates its slabs elsewhere, one after the
 * other, each while all others of its range are good. This is ours: in Hydra no server leaves by plan. Any thread.
 */
public final class ServerRetirement {

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** How long it waits without any progress: sessions may keep stripe words, and servers may not answer. */
    private static final long PATIENCE_NANOS = TimeLimit.of(TimeUnit.SECONDS.toNanos(60));

    private final SpaceState space;
    private final SlabKeeper keeper;
    private final SlabPlacement placement;

    public ServerRetirement(SpaceState space, SlabKeeper keeper, SlabPlacement placement) {
        this.space = space;
        this.keeper = keeper;
        this.placement = placement;
    }

    /** As {@link io.farheap.resilience.CodedSpace#retire}. */
    public void run(RemoteServer server, Runnable moved) {
        if (!space.table.sparesAny() && !space.table.slabsAt(server).isEmpty()) {
            throw refused(
                    server,
                    "a range can spare none of its " + space.table.splits()
                            + " slabs, not even during a regeneration; take a larger r");
        }
        int places = keeper.empty(server);
        try {
            moveAll(server, places, moved);
            await(server, "its memory has been in use", () -> keeper.hasAllBack(server));
            space.left.add(server);
        } finally {
            keeper.keep(server);
        }
    }

    private void moveAll(RemoteServer server, int places, Runnable moved) {
        for (int left = places; left > 0; left--) {
            int before = left;
            await(server, "none of its slabs has moved", () -> space.table.placesAt(server) < before);
            moved.run();
        }
        // What is left there belongs to ranges that are lost, and moves nowhere.
        space.table.makeVoidOfLostRanges(server);
    }

    private void await(RemoteServer server, String otherwise, BooleanSupplier what) {
        long progress = keeper.bytesRebuilt();
        long since = System.nanoTime();
        while (!what.getAsBoolean()) {
            if (keeper.isClosed()) {
                throw refused(server, "the cache is closed");
            }
            String why = keeper.noPlaceFor(server);
            if (!why.isEmpty()) {
                throw refused(server, why + "; " + domains(server));
            }
            long now = System.nanoTime();
            if (keeper.bytesRebuilt() != progress) {
                progress = keeper.bytesRebuilt();
                since = now;
            }
            if (now - since > PATIENCE_NANOS) {
                throw refused(server, otherwise + " for " + TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NANOS) + " s");
            }
            Uninterruptibles.parkNanos(this, LOOK_NANOS);
        }
    }

    private String domains(RemoteServer server) {
        long others = placement.domains(space.memory.servers().stream().filter(other -> other != server));
        return "without it there are " + others + " failure domains, and a range needs " + space.table.splits()
                + " with room; add a server of another domain, or one with more memory";
    }

    private static IllegalStateException refused(RemoteServer server, String why) {
        return new IllegalStateException(server + " is still in use: " + why + ". Moved slabs do not move back");
    }
}
