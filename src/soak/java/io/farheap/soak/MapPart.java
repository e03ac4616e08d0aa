package io.farheap.soak;

import io.farheap.control.ControlException;
import io.farheap.control.SpaceKey;
import io.farheap.kv.FarMap;
import io.farheap.kv.FarMapBuilder;
import io.farheap.kv.contract.MapException;
import io.farheap.remote.RemoteMemory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.BooleanSupplier;

/** A map on all servers of an episode, of one of the engines, and its users. */
final class MapPart implements AutoCloseable {

    /** Of one map, on each server. */
    static final int REGIONS = 4;

    private static final int USERS = 2;
    private static final int KEYS = 3000;
    private static final int OBJECTS = 2000;
    private static final String TOKEN = "soak, and soak again";
    private static final List<String> POLICIES = List.of("adaptive", "adaptive", "paper", "lru-k", "gdsf,lru");

    private final List<String> servers;
    private final String name;
    private final BooleanSupplier gone;
    private final FarMap map;
    private final List<MapUser> users = new ArrayList<>();

    /**
     * Makes a map.
     *
     * @param engine {@link FarMapBuilder#DISAGGREGATED} or {@link FarMapBuilder#LEASED}
     * @param mayBeLost whether a fault excuses a request that is lost
     * @param gone whether a server was killed, or stopped for longer than a lease
     */
    MapPart(
            String engine,
            List<String> servers,
            long regionBytes,
            SplittableRandom random,
            BooleanSupplier mayBeLost,
            BooleanSupplier gone,
            WaitTimes waits,
            Problems problems) {
        this.servers = servers;
        this.name = "soak-map-" + Long.toHexString(random.nextLong());
        this.gone = gone;
        FarMapBuilder builder =
                builder().memory((long) REGIONS * servers.size() * regionBytes).objects(OBJECTS);
        if (engine.equals(FarMapBuilder.LEASED)) {
            Duration term = Duration.ofMillis(random.nextInt(2_000));
            builder.engine(engine).leaseTerms(term, term.multipliedBy(5));
        } else {
            builder.policy(POLICIES.get(random.nextInt(POLICIES.size())));
        }
        map = builder.create();
        AtomicLongArray begun = new AtomicLongArray(KEYS);
        for (int number = 0; number < USERS; number++) {
            users.add(new MapUser(map, engine, number, USERS, begun, random.split(), mayBeLost, gone, waits, problems));
        }
    }

    private FarMapBuilder builder() {
        return FarMap.builder().name(name).token(TOKEN).servers(servers.toArray(String[]::new));
    }

    List<MapUser> users() {
        return users;
    }

    /** Checks all keys, when no user makes requests any more. */
    void check() {
        users.forEach(MapUser::checkAll);
    }

    @Override
    public void close() {
        try {
            map.drop();
        } catch (MapException | ControlException e) {
            if (!gone.getAsBoolean()) {
                throw e;
            }
            // A server that was stopped has ended this client's lease there, and still has the space.
            map.close();
            dropWhatIsLeft();
        }
    }

    private void dropWhatIsLeft() {
        for (String server : servers) {
            try (RemoteMemory memory = RemoteMemory.open("", name)) {
                memory.openSpace(memory.attach(server), SpaceKey.of(name, TOKEN))
                        .drop();
            } catch (ControlException e) {
                // It was killed, or has dropped it before.
            }
        }
    }
}
